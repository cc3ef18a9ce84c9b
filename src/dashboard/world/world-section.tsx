import { useRef, useState } from 'preact/hooks';
import { useAction } from '../live/action.ts';
import { worldName } from '../live/address.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { download } from './download.ts';
import { ForkForm } from './fork-form.tsx';
import { lossIn } from './losses.ts';
import { payoutsCsv } from './payouts-csv.ts';
import { Question } from './question.tsx';
import { Refusal } from '../detail/refusal.tsx';

/** Something that replaces the world, until the user agrees to what is lost. */
interface Replacement {
  readonly loss: string;
  readonly verb: string;
  readonly act: () => Promise<void>;
}

/** The world as a whole: reset, snapshots, forks, exports, and what else to read. */
export function WorldSection({ live }: { readonly live: LiveWorld }) {
  const { world, news } = live;
  const [asked, setAsked] = useState<Replacement | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const { isBusy, refusal, run } = useAction();
  const name = worldName(live.summary.value?.id ?? '');

  const replace = (verb: string, said: string, replaceIt: () => Promise<unknown>): void =>
    run(async () => {
      const act = async (): Promise<void> => {
        await replaceIt();
        setAsked(null);
        news.say(said);
      };
      const loss = await lossIn(world);
      if (loss === null) await act();
      else setAsked({ loss, verb, act });
    });
  const reset = (): void => replace('Reset this world', 'The world was reset', () => world.reset());
  const load = async (): Promise<void> => {
    const [chosen] = file.current!.files ?? [];
    if (chosen === undefined) return;
    const snapshot = await chosen.text();
    file.current!.value = ''; // so that the same file can be chosen again
    replace('Load the snapshot', `${chosen.name} was loaded`, () => world.restore(snapshot));
  };
  const saveSnapshot = async (): Promise<void> =>
    download(`world-${name}.ndjson`, 'application/x-ndjson', await world.snapshot());
  const saveRequests = async (): Promise<void> =>
    download(`requests-${name}.har`, 'application/json', JSON.stringify(await world.toHar(), null, 2));
  const savePayouts = async (): Promise<void> =>
    download(`payouts-${name}.csv`, 'text/csv', payoutsCsv(await world.transactions()));

  const button = (label: string, act: () => void) => (
    <button type="button" class="button" disabled={isBusy} onClick={act}>
      {label}
    </button>
  );
  return (
    <section id="world" class="card" aria-labelledby="world-title">
      <header class="card-head">
        <h2 id="world-title">World</h2>
        <code class="note">{name}</code>
        <button type="button" class="button small" disabled={isBusy} onClick={reset}>
          Reset
        </button>
      </header>
      {asked !== null && (
        <Question
          text={`This world would lose ${asked.loss}.`}
          verb={asked.verb}
          isBusy={isBusy}
          onYes={() => run(asked.act)}
          onNo={() => setAsked(null)}
        />
      )}
      <Refusal text={refusal} />
      <h3>Snapshot</h3>
      <div class="buttons">
        {button('Save', () => run(saveSnapshot))}
        {button('Load…', () => file.current!.click())}
        <input
          ref={file}
          type="file"
          hidden
          accept=".ndjson,.json"
          aria-label="Snapshot to load"
          onChange={() => void load()}
        />
      </div>
      <ForkForm live={live} />
      <h3>Export</h3>
      <div class="buttons">
        {button('Requests (HAR)', () => run(saveRequests))}
        {button('Payouts (CSV)', () => run(savePayouts))}
      </div>
      <p class="note">
        <a href="./docs">API reference</a> · <a href="./openapi.json">OpenAPI document</a> · guides: the
        folder <code>docs</code> of the package
      </p>
    </section>
  );
}

import { useRef, useState } from 'preact/hooks';
import { World } from '../../client/controlled-world.ts';
import { payoutsCsv } from '../payouts/payouts-csv.ts';
import { worldName } from '../shell/address.ts';
import { chooseKey } from '../shell/session.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { download } from './download.ts';
import { ForkForm } from './fork-form.tsx';
import { lossIn } from './losses.ts';
import { Question } from './question.tsx';
import { Replay } from './replay.tsx';

/** Something that replaces the world, until the user agrees to what is lost. */
interface Replacement {
  readonly loss: string;
  readonly verb: string;
  readonly act: () => Promise<string>;
}

/** The world as a whole: reset, snapshots, forks, replay, exports, and what else to read. */
export function WorldView() {
  const live = useLive();
  const { world } = live;
  const [asked, setAsked] = useState<Replacement | null>(null);
  const file = useRef<HTMLInputElement>(null);
  const toReplay = useRef(false);
  const { isBusy, refusal, run } = useAction();
  const name = worldName(live.summary.value?.id ?? '');

  const effects = { causes: ['reset', 'restore'], undo: true } as const;
  const replace = (verb: string, text: string, replaceIt: () => Promise<unknown>): void =>
    run(async () => {
      const act = async (): Promise<string> => {
        await replaceIt();
        setAsked(null);
        return text;
      };
      const loss = await lossIn(world);
      return loss === null ? act() : setAsked({ loss, verb, act });
    }, effects);
  const load = async (): Promise<void> => {
    const [chosen] = file.current!.files ?? [];
    if (chosen === undefined) return;
    const snapshot = await chosen.text();
    file.current!.value = ''; // so that the same file can be chosen again
    const copyKey = `${world.apiKey}-replay`;
    const copy = new World(world.url, copyKey);
    run(async () => {
      await copy.restore(snapshot); // whatever is wrong with the file is said before anything is asked or lost
      if (toReplay.current) return chooseKey(copyKey);
      await copy.reset();
      const loss = await lossIn(world);
      const act = async (): Promise<string> => {
        await world.restore(snapshot);
        setAsked(null);
        return `${chosen.name} is loaded.`;
      };
      return loss === null ? act() : setAsked({ loss, verb: 'Load the snapshot', act });
    }, effects);
  };
  const choose = (forReplay: boolean): void => {
    toReplay.current = forReplay;
    file.current!.click();
  };
  const saveSnapshot = async (): Promise<void> =>
    download(`world-${name}.ndjson`, await world.snapshot(), 'application/x-ndjson');
  const saveRequests = async (): Promise<void> =>
    download(`requests-${name}.har`, JSON.stringify(await world.toHar(), null, 2), 'application/json');
  const savePayouts = async (): Promise<void> =>
    download(`payouts-${name}.csv`, payoutsCsv(await world.transactions()), 'text/csv');

  const button = (label: string, act: () => void) => (
    <Button isBusy={isBusy} act={act}>
      {label}
    </Button>
  );
  return (
    <section class="view scrolling" aria-labelledby="world-title">
      <header class="view-head">
        <h2 id="world-title">World</h2>
        <code class="note">{name}</code>
        {live.summary.value?.name != null && <span>{live.summary.value.name}</span>}
        {button('Reset', () => replace('Reset this world', 'The world was reset.', () => world.reset()))}
      </header>
      {asked !== null && (
        <Question
          text={`This world would lose ${asked.loss}.`}
          verb={asked.verb}
          isBusy={isBusy}
          onYes={() => run(asked.act, effects)}
          onNo={() => setAsked(null)}
        />
      )}
      <Refusal text={refusal} />
      <div class="block">
        <h3>Snapshot</h3>
        <p class="note">
          A snapshot has the whole world: its payouts, its newest requests, and what the client was told.
        </p>
        <div class="buttons">
          {button('Save', () => run(saveSnapshot))}
          {button('Load…', () => choose(false))}
          {button('Replay a file…', () => choose(true))}
          <input
            ref={file}
            type="file"
            hidden
            accept=".ndjson,.json"
            aria-label="Snapshot to load"
            onChange={() => void load()}
          />
        </div>
      </div>
      <ForkForm />
      <Replay />
      <div class="block">
        <h3>Export</h3>
        <div class="buttons">
          {button('Requests (HAR)', () => run(saveRequests))}
          {button('Payouts (CSV)', () => run(savePayouts))}
        </div>
        <p class="note">
          <a href="./docs">API reference</a> · <a href="./openapi.json">OpenAPI document</a> · guides: the
          folder <code>docs</code> of the package
        </p>
      </div>
    </section>
  );
}

import { useRef, useState } from 'preact/hooks';
import { SandboxError } from '../../client/control-client.ts';
import { World } from '../../client/controlled-world.ts';
import { payoutsCsv } from '../payouts/payouts-csv.ts';
import { worldName } from '../shell/address.ts';
import { chooseKey } from '../shell/session.ts';
import { useLive } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { download } from './download.ts';
import { useReplacement } from './replacement.tsx';

/** Copies this world to another key: from then on, the two are independent. */
function ForkForm() {
  const live = useLive();
  const { url, apiKey } = live.world;
  const [key, setKey] = useState(`${apiKey}-fork`);
  const [made, setMade] = useState<string | null>(null);
  const { isBusy, refusal, replace, question, forget } = useReplacement();
  const fork = (): void => {
    const target = key.trim();
    const world = new World(url, target);
    const act = async (): Promise<void> => {
      await world.restore(await live.world.snapshot());
      setMade(target);
    };
    replace({ world, name: `The world of ${target}`, verb: 'Replace it', act }, async () => {
      if (target === apiKey) throw new Error('This is the key of this world: enter another one.');
    });
  };
  return (
    <div class="block">
      <h3>Fork</h3>
      <p class="note">A copy of this world with another key. From then on, the two are independent.</p>
      <form class="row-form" onSubmit={submits(fork)}>
        <label class="field">
          <span>Key of the fork</span>
          <input
            name="fork"
            autoComplete="off"
            spellcheck={false}
            required
            value={key}
            onInput={(event) => {
              setKey(event.currentTarget.value);
              forget();
              setMade(null);
            }}
          />
        </label>
        <Button isSubmit isBusy={isBusy}>
          Fork
        </Button>
        {question}
        {made !== null && (
          <p class="note" role="status">
            The fork was made.{' '}
            <Button kind="link" isLocal act={() => chooseKey(made)}>
              Show {made}
            </Button>
          </p>
        )}
        <Refusal text={refusal} />
      </form>
    </div>
  );
}

const EFFECTS = { causes: ['reset', 'restore'], undo: true } as const;

/** Loads a snapshot into a copy that is never kept: what is wrong with it is said before anything is asked or lost. */
async function tryOut({ url, apiKey }: World, snapshot: string): Promise<void> {
  const copy = new World(url, `${apiKey}-preview`);
  try {
    await copy.restore(snapshot);
    await copy.reset();
  } catch (error) {
    if (!(error instanceof SandboxError && error.code === 'UNAUTHORIZED')) throw error; // only listed keys have worlds
  }
}

/** The world as a whole: reset, snapshots, forks, exports, and what else to read. */
export function WorldView() {
  const live = useLive();
  const { world } = live;
  const file = useRef<HTMLInputElement>(null);
  const { isBusy, refusal, run, replace, question } = useReplacement();
  const name = worldName(live.summary.value?.id ?? '');

  const whole = { world, name: 'This world', effects: EFFECTS } as const;
  const reset = (): void =>
    replace({
      ...whole,
      verb: 'Reset this world',
      act: async () => {
        await world.reset();
        return 'The world was reset.';
      },
    });
  const load = async (): Promise<void> => {
    const [chosen] = file.current!.files ?? [];
    if (chosen === undefined) return;
    const snapshot = await chosen.text();
    file.current!.value = ''; // so that the same file can be chosen again
    const act = async (): Promise<string> => {
      await world.restore(snapshot);
      return `${chosen.name} is loaded.`;
    };
    replace({ ...whole, verb: 'Load the snapshot', act }, () => tryOut(world, snapshot));
  };
  const saveSnapshot = async (): Promise<void> =>
    download(`world-${name}.ndjson`, await world.snapshot(), 'application/x-ndjson');
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
        {button('Reset', reset)}
      </header>
      {question}
      <Refusal text={refusal} />
      <div class="blocks">
        <div class="block">
          <h3>Snapshot</h3>
          <p class="note">
            A snapshot has the whole world: its payouts, its newest requests, and what the client was told.
          </p>
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
        </div>
        <ForkForm />
        <div class="block">
          <h3>Export</h3>
          <div class="buttons">{button('Payouts (CSV)', () => run(savePayouts))}</div>
          <p class="note">
            <a href="./openapi.json">OpenAPI document</a> · guides: the folder <code>docs</code> of the
            package
          </p>
        </div>
      </div>
    </section>
  );
}

import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { NoSandboxError, SandboxError } from '../../client/control-client.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import { messageOf } from '../ui/formats.ts';
import type { LiveWorld } from './live-world.ts';
import { REPLACING, type Toast } from './news.ts';

/** The world that the page shows; null while none is open. */
export const CurrentWorld = createContext<LiveWorld | null>(null);

/** The world that the page shows, in a component that is only there while it shows one. */
export const useLive = (): LiveWorld => useContext(CurrentWorld)!;

/** The message of a refused action: the invalid fields, if there are any. */
const refusalText = (error: unknown): string =>
  error instanceof SandboxError && error.errors.length > 0
    ? error.errors.map(({ message }) => message).join('; ')
    : messageOf(error);

/** How a refused undo ends that may be repeated with `force`: words for whoever makes the call by hand. */
const FORCED = / With force, .*/s;
/** As many actions as a world can take back at least. */
const MOST_UNDONE = 10;

/** What an action did, in words, and how many control actions it took: one, unless it says otherwise. */
export type Said = string | { readonly text: string; readonly actions: number };

export interface Effects {
  /** The events that the action causes, which are then no news. */
  readonly causes?: readonly WorldEvent['type'][];
  /** Whether the sandbox can take it back. */
  readonly undo?: boolean;
}

interface Undoing {
  /** How many of the last control actions of this page. */
  readonly actions?: number;
  /** The number of another client's action instead. */
  readonly action?: number | undefined;
  /** The refusal after which it may be forced: another one names other requests. */
  readonly agreed?: string;
}

/** Takes a control action back. */
const takeBack = ({ world }: LiveWorld, { action, agreed }: Undoing) =>
  world.undo({ action }).catch((error: unknown) => {
    if (refusalText(error) !== agreed) throw error;
    return world.undo({ action, force: true });
  });

/** Takes control actions back, and says which they were. */
export async function undo(live: LiveWorld, undoing: Undoing = {}): Promise<void> {
  const { actions = 1 } = undoing;
  const done = live.news.expect(['restore']);
  const taken: string[] = [];
  try {
    while (taken.length < actions) taken.push((await takeBack(live, undoing)).name);
    live.news.replaced.value += 1;
    live.news.show({ text: `Taken back: ${[...new Set(taken)].join(', ')}.` });
  } catch (error) {
    const refusal = refusalText(error);
    const [why, forced] = refusal.split(FORCED, 2);
    const rest = { ...undoing, actions: actions - taken.length, agreed: refusal };
    const offer = { label: 'Undo these too', act: () => void undo(live, rest) };
    live.news.show({ text: why!, offer: forced === undefined ? undefined : offer });
  } finally {
    done();
  }
}

const undoOffer = (live: LiveWorld, actions: number): Toast['offer'] =>
  actions < 1 || actions > MOST_UNDONE
    ? undefined
    : { label: 'Undo', act: () => void undo(live, { actions }) };

/**
 * Carries out an action and says what it did. Whatever goes wrong is returned as a text: null if nothing did, or if no server
 * answered, which the page says elsewhere.
 */
async function attempt(
  live: LiveWorld | null,
  act: () => Promise<Said | void>,
  { causes = [], undo: isUndoable = false }: Effects = {},
): Promise<string | null> {
  const done = live?.news.expect(causes);
  try {
    const said = await act();
    if (live !== null && said !== undefined) {
      if (causes.some((type) => REPLACING.has(type))) live.news.replaced.value += 1;
      const { text, actions } = typeof said === 'string' ? { text: said, actions: 1 } : said;
      live.news.show({ text, offer: isUndoable ? undoOffer(live, actions) : undefined });
    }
    return null;
  } catch (error) {
    if (live === null || !(error instanceof NoSandboxError)) return refusalText(error);
    live.news.show({ text: 'The sandbox did not respond: this may or may not have happened.' });
    return null;
  } finally {
    done?.();
  }
}

/** Carries out an action of which no form says why it was refused: that is shown like what it did. */
export async function perform(live: LiveWorld, act: () => Promise<Said>, effects?: Effects): Promise<void> {
  if (live.away.value !== null) return live.news.show({ text: `${live.away.value}.` });
  const refused = await attempt(live, act, effects);
  if (refused !== null) live.news.show({ text: refused });
}

/** Runs one action at a time against the sandbox: whether it is running, and why it was refused. */
export function useAction() {
  const live = useContext(CurrentWorld);
  const [isBusy, setBusy] = useState(false);
  const isRunning = useRef(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const isAway = live !== null && live.away.value !== null;
  useEffect(() => setRefusal(null), [live?.news.replaced.value, isAway]); // what was refused then may be right now
  const run = (act: () => Promise<Said | void>, effects?: Effects): void => {
    if (isRunning.current || isAway) return;
    isRunning.current = true;
    setBusy(true);
    setRefusal(null);
    const carryOut = async (): Promise<void> => {
      const refused = await attempt(live, act, effects);
      isRunning.current = false;
      setRefusal(refused);
      setBusy(false);
    };
    void carryOut();
  };
  return { isBusy, refusal, run, clear: () => setRefusal(null) };
}

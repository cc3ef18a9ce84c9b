import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import { NoSandboxError, SandboxError } from '../../client/control-client.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import { messageOf } from '../ui/formats.ts';
import type { LiveWorld } from './live-world.ts';
import { REPLACING } from './news.ts';

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
/** The events that an action causes, which are then no news. */
export type Causes = readonly WorldEvent['type'][];

/** Takes one control action back. @param agreed the refusal after which it may be forced: another one names other requests */
const takeBack = ({ world }: LiveWorld, action: number, agreed: string | undefined) =>
  world.undo({ action }).catch((error: unknown) => {
    if (refusalText(error) !== agreed) throw error;
    return world.undo({ action, force: true });
  });

/**
 * Takes control actions back, and says which they were.
 *
 * @param action the number of the last of them, which may be another client's
 * @param after the number of an earlier action: all of this page since then are taken back
 * @param said what the page said when they were done; else their name is shown
 */
export async function undo(
  live: LiveWorld,
  action: number,
  after = action - 1,
  said?: string,
  agreed?: string,
): Promise<void> {
  const done = live.news.expect(['restore']);
  let [latest, name] = [action, ''];
  try {
    for (; latest > after; latest = live.world.lastAction ?? 0)
      ({ name } = await takeBack(live, latest, agreed));
    live.news.replaced.value += 1;
    live.news.show({ text: `Taken back: “${said?.replace(/\.$/, '') ?? name}”.` });
  } catch (error) {
    const refusal = refusalText(error);
    const [why, forced] = refusal.split(FORCED, 2);
    const offer = { label: 'Undo these too', act: () => void undo(live, latest, after, said, refusal) };
    live.news.show({ text: why!, offer: forced === undefined ? undefined : offer });
  } finally {
    done();
  }
}

/**
 * Carries out an action and says what it did; if it was a control action, with an offer to take back that one and no other.
 * Whatever goes wrong is returned as a text: null if nothing did, or if no server answered, which the page says elsewhere.
 */
async function attempt(
  live: LiveWorld | null,
  act: () => Promise<string | void>,
  causes: Causes = [],
): Promise<string | null> {
  const done = live?.news.expect(causes);
  const before = live?.world.lastAction ?? 0;
  try {
    const text = await act();
    if (live !== null && text !== undefined) {
      if (causes.some((type) => REPLACING.has(type))) live.news.replaced.value += 1;
      const { lastAction = before } = live.world;
      const offer = { label: 'Undo', act: () => void undo(live, lastAction, before, text) };
      live.news.show({ text, offer: lastAction > before ? offer : undefined });
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
export async function perform(live: LiveWorld, act: () => Promise<string>, causes?: Causes): Promise<void> {
  if (live.away.value !== null) return live.news.show({ text: `${live.away.value}.` });
  const refused = await attempt(live, act, causes);
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
  const run = (act: () => Promise<string | void>, causes?: Causes): void => {
    if (isRunning.current || isAway) return;
    isRunning.current = true;
    setBusy(true);
    setRefusal(null);
    const carryOut = async (): Promise<void> => {
      const refused = await attempt(live, act, causes);
      isRunning.current = false;
      setRefusal(refused);
      setBusy(false);
    };
    void carryOut();
  };
  return { isBusy, refusal, run, clear: () => setRefusal(null) };
}

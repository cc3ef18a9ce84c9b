import type { World } from '../client/controlled-world.ts';
import type { WorldReport } from '../contract/conduct.ts';
import { timeText } from '../contract/times.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { Evidence } from '../referee/case.ts';

export type Ending =
  /** `isSaid`: the client said in words, or in an exit code with a declared meaning, that it paid everything. */
  | { readonly kind: 'success'; readonly isSaid?: boolean }
  /** The client says that it failed, or that it does not know; `isSaid` as above. `output` is the end of what it wrote. */
  | {
      readonly kind: 'failure';
      readonly why: string;
      readonly output?: string;
      readonly isInDoubt?: boolean;
      readonly isSaid?: boolean;
    }
  /** It was still running after this time, and was ended. */
  | { readonly kind: 'stuck'; readonly afterMs: number };

export interface Run {
  readonly ending: Ending;
  readonly durationMs: number;
  /** The evidence of every world that the client used. */
  readonly worlds: readonly Evidence[];
}

/** Where the sandboxes that a client starts itself are seen. */
export interface Joined<T> {
  /** The variables that a command needs for it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Closes it and all of them. @returns what was seen of each */
  readonly end: () => Promise<readonly T[]>;
}

/** Runs the client once, and resolves however it ends. `signal` is aborted when it takes too long, or nobody waits for it any more. */
export type Client = (
  world: World,
  signal: AbortSignal,
  variables: Joined<unknown>['variables'],
) => Promise<Exclude<Ending, { kind: 'stuck' }>>;

/** @param limitMs a client that runs longer is ended, as by `stop`, and counts as stuck */
export async function runClient<T>(
  client: Client,
  world: World,
  limitMs: number,
  stop: AbortSignal,
  wallClock: WallClock,
  joined: Joined<T> = { variables: {}, end: () => Promise.resolve([]) },
): Promise<{ readonly ending: Ending; readonly durationMs: number; readonly sandboxes: readonly T[] }> {
  const beganMs = wallClock.nowMs();
  const tooLong = new AbortController();
  const cancel = wallClock.schedule(beganMs + limitMs, () => tooLong.abort());
  const signal = AbortSignal.any([tooLong.signal, stop]);
  const aborted = new Promise<Ending>((resolve) => {
    if (stop.aborted) resolve({ kind: 'stuck', afterMs: 0 });
    signal.addEventListener('abort', () => resolve({ kind: 'stuck', afterMs: limitMs }), { once: true });
  });
  try {
    const run = stop.aborted ? aborted : client(world, signal, joined.variables);
    const ending = await Promise.race([run, aborted]).finally(cancel); // a run that has ended is not aborted later
    const durationMs = Math.round(wallClock.nowMs() - beganMs);
    return { ending, durationMs, sandboxes: await joined.end() };
  } finally {
    await joined.end();
  }
}

/** Does work on each item of a queue, several at once, in the order of the queue. @param mayGoOn whether to begin another */
export async function inParallel<T>(
  queue: T[],
  workers: number,
  mayGoOn: () => boolean,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const worker = async (): Promise<void> => {
    while (queue.length > 0 && mayGoOn()) await work(queue.shift()!);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** Why there is nothing to judge. @param refused what came without reaching a world; empty for nothing */
export function noRequestText(refused: string): string {
  const what = refused === '' ? '' : ` (${refused})`;
  return `no request with a valid key reached the sandbox${what}: give the command its address and a key, such as --env PAYOUT_URL={url} --env PAYOUT_KEY={key}, or start its sandbox with startSandbox()`;
}

/** How many requests of a run are known. */
export const requestsIn = ({ worlds }: Pick<Run, 'worlds'>): number =>
  worlds.reduce((sum, { requests, evicted }) => sum + requests.length + evicted, 0);

const whyEnded = (ending: Exclude<Ending, { kind: 'success' }>): string => {
  if (ending.kind === 'stuck') return `it had not ended after ${timeText(ending.afterMs)}`;
  const { why, output } = ending;
  return `it failed: ${output ? `${why}, and it wrote: ${output}` : why}`;
};

/**
 * Why other runs cannot be compared with one without failures; null when they can.
 *
 * @param noRequest the reason if it sent nothing
 * @param reports those of the referee on all of its worlds
 */
export function baselineFault(run: Run, noRequest: string, reports: readonly WorldReport[]): string | null {
  const isSilent = requestsIn(run) === 0;
  if (run.ending.kind === 'success') {
    const unknown = reports.find((report) => report.unknown !== null)?.unknown;
    return isSilent ? noRequest : unknown ? `without any failure, ${unknown}` : null;
  }
  const why = `${whyEnded(run.ending)}${isSilent ? `; ${noRequest}` : ''}`;
  return `without any failure the client must succeed in time, but ${why}`;
}

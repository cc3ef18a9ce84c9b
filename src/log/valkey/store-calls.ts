import type { Cluster, Redis } from 'iovalkey';
import type { WallClock } from '../wall-clock.ts';
import { STORE_TIMES } from '../store-times.ts';
import { AGAIN_AFTER_MS, type Client } from './store-client.ts';

/** Temporary refusals of the store: it starts, is full, is read-only, has no master, moves slots, or has another password. */
const PASSING =
  /^(?:LOADING|READONLY|OOM|MISCONF|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|UNBLOCKED|NOSCRIPT|MOVED|ASK|NOAUTH|WRONGPASS|NOPERM)\b/;

const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

/** Whether a call may succeed if it is repeated: not when the store refused the call itself. */
export const isPassing = (error: unknown): boolean => !isReply(error) || PASSING.test(error.message);

/**
 * Calls of the store that get a reply in time or fail, and are repeated while they may succeed.
 *
 * @param retried called before each repetition
 */
export function retriedCalls(wallClock: WallClock, retried: () => void) {
  let isClosed = false;

  /** @throws Error when it takes too long; a process that was busy itself first reads what has arrived */
  async function once<T>(work: Promise<T>): Promise<T> {
    let cancel = (): void => undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const check = async (): Promise<void> => {
        await wallClock.yieldToEventLoop();
        reject(new Error(`no response within ${STORE_TIMES.answerWithin} ms`));
      };
      cancel = wallClock.schedule(wallClock.nowMs() + STORE_TIMES.answerWithin, () => void check());
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel();
    }
  }

  /** Tries at least twice: a process that was busy for that long itself may not have read a reply that was there. */
  async function retry<T>(work: () => Promise<T>): Promise<T> {
    const endMs = wallClock.nowMs() + STORE_TIMES.giveUpAfter;
    for (let tried = 1; ; tried += 1) {
      try {
        return await once(work());
      } catch (error) {
        const isOver = tried > 1 && wallClock.nowMs() >= endMs;
        if (isOver || isClosed || !isPassing(error)) throw error;
        retried();
        await new Promise<void>((resolve) => wallClock.schedule(wallClock.nowMs() + AGAIN_AFTER_MS, resolve));
      }
    }
  }

  /** Repeats nothing from now on. */
  const close = (): void => void (isClosed = true);
  return { once, retry, close };
}

/**
 * Makes the calls of one turn of the event loop at its end, in one write to each server. The store then reads them at once and
 * answers them at once, which takes less time on both sides than a write for each.
 *
 * @returns a function that makes a call, which sends its command before it waits for anything
 */
export function joinedCalls(client: Client, wallClock: WallClock) {
  const calls: (() => void)[] = [];
  const end = async (): Promise<void> => {
    await wallClock.yieldToEventLoop();
    const nodes = client.isCluster ? (client as Cluster).nodes() : [client as Redis];
    const streams = nodes.map(({ stream }) => stream).filter((stream) => stream !== undefined); // only connected nodes have one
    for (const stream of streams) stream.cork();
    for (const call of calls.splice(0)) call();
    for (const stream of streams) stream.uncork();
  };
  return <T>(call: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      calls.push(() => void call().then(resolve, reject));
      if (calls.length === 1) void end();
    });
}

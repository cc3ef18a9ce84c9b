import type { Payout } from '../contract/snapshot.ts';
import { MAX_COUNT, type State } from '../contract/service.ts';

/** The next count. It stays at the maximum, so that a snapshot with it can be read again. */
export const oneMore = (count: number): number => Math.min(count + 1, MAX_COUNT);

/** A step that has happened. `from` and `to` are the same when only the UTR was set. */
export interface Change {
  readonly txnId: string;
  readonly clientRefId: string;
  readonly from: State;
  readonly to: State;
  readonly atMs: number;
  readonly utr: string | null;
}

/** FAILED and REVERSED return the money. */
export const isMoneyBack = (state: State): boolean => state === 'FAILED' || state === 'REVERSED';

/** Money that is out, although no response has shown the client that the payout was made. */
export const isAtRisk = ({ state, told }: Payout): boolean => told === null && !isMoneyBack(state);

/** The client saw another state of it, and its own is final. */
export const isOutOfDate = ({ state, told }: Payout): boolean =>
  told !== null && state !== 'PENDING' && told.as !== state;

/** World time at which the next step is due; null when there is none, or it waits for a read. */
export function nextDueMs({ timeline, stepsDone, createdAtMs }: Payout): number | null {
  const afterMs = timeline[stepsDone]?.afterMs ?? null;
  // the step before it may have waited for a read, and been applied later than this one was planned
  return afterMs === null ? null : createdAtMs + Math.max(afterMs, timeline[stepsDone - 1]?.afterMs ?? 0);
}

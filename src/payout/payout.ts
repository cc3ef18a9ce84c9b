import type { State, TransferMode } from '../contract/service.ts';

/** One step of a timeline: what happens to a payout, and when. Payouts with the same settlement share their steps. */
export interface PayoutStep {
  /**
   * When it is due, in ms after the payout was created; null while it waits for status reads. A step that waited for a
   * read, or was forced, holds the time at which it happened.
   */
  readonly afterMs: number | null;
  /** The status read, counted from initiate, that triggers it; null for a step that waits for its time. */
  readonly polls: number | null;
  /** The state it goes to; null when only the UTR is set. */
  readonly to: State | null;
  /** Whether the payout has a UTR from this step on. */
  readonly utr: boolean;
  /** True for a step that a forced transition put in place of the planned ones. */
  readonly forced: boolean;
  /** How many requests its world had counted when it was forced; absent for other steps. */
  readonly requests?: number | undefined;
}

/** How long status reads do not find a payout, as a number of reads or a world time, and the rule or outcome that hides it. */
export type Hidden =
  | { readonly reads: number; readonly by: string }
  | { readonly untilMs: number; readonly by: string };

/** What the client was told of a payout: the state that it saw last, and the request that first showed that state. */
export interface Told {
  /** Which request of its world, counted from 1. */
  readonly request: number;
  readonly atMs: number;
  readonly as: State;
}

/** One payout: flat, plain data that is replaced as a whole when it changes. Times are ms since the epoch. */
export interface Payout {
  readonly txnId: string;
  readonly clientRefId: string;
  /** Which payout of its reference it is, from 1. More than one only in a dialect that pays twice. */
  readonly nth: number;
  /** A digest of the remarks, compared when a client_ref_id is sent again; null for none. */
  readonly remarks: string | null;
  readonly amountPaise: number;
  readonly transferMode: TransferMode;
  readonly beneficiaryName: string;
  readonly beneficiaryAccount: string;
  readonly beneficiaryIfsc: string;
  readonly createdAtMs: number;
  /** What decided its timeline: a rule (`scenario/rule`), an outcome (`scenario/outcome`), or the settlement of a scenario. */
  readonly plannedBy: string;
  /** Decided at initiate. The first `stepsDone` of it have happened. */
  readonly timeline: readonly PayoutStep[];
  readonly stepsDone: number;
  readonly hidden: Hidden | null;
  /** Status reads so far; counted only while something waits for them. */
  readonly reads: number;
  readonly state: State;
  /** Drawn at initiate, 0 to 999,999,999: the UTR is derived from it. */
  readonly utrSerial: number;
  readonly utr: string | null;
  /** When it left PENDING; a later reversal does not change it. */
  readonly completedAtMs: number | null;
  /** null while no response has shown its client that it was made: it is at risk. */
  readonly told: Told | null;
}

/** More than one world can ever count, and far from where numbers stop being exact. */
export const MAX_COUNT = 1e12;

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

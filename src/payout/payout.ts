import type { State, TransferMode } from '../contract/payout.ts';
import { invariant } from './invariant.ts';

/** One step of a timeline: what happens to a payout, and when. */
export interface Step {
  /**
   * World time, ms since the epoch; null for a step that waits for status reads. A step that has happened holds
   * the time that it was stamped with: its own due time, whenever it was applied, or that of the read.
   */
  readonly dueMs: number | null;
  /** The status read, counted from initiate, that makes it happen; null for a step that waits for its time. */
  readonly polls: number | null;
  /** The state it goes to; null when only the UTR comes. */
  readonly to: State | null;
  /** Whether the UTR is there from this step on, if it was not before. */
  readonly utr: boolean;
  /** True for a step that nobody planned: it was ordered, and called off what was. */
  readonly forced: boolean;
}

/** How long status reads do not know a payout: for so many reads, or until a world time. */
export type Hidden = ({ readonly reads: number } | { readonly untilMs: number }) & {
  /** The rule that hides it: `scenario/rule`. */
  readonly by: string;
};

/** One payout: plain, serialisable data that is replaced as a whole when it changes. */
export interface Transaction {
  readonly txnId: string;
  readonly clientRefId: string;
  /** Which payout of its reference it is, from 1. More than one only in a dialect that pays twice. */
  readonly nth: number;
  /** Tells one request body from another, for a client_ref_id that is sent again. */
  readonly fingerprint: string;
  readonly amountPaise: number;
  readonly transferMode: TransferMode;
  readonly beneficiaryName: string;
  readonly beneficiaryAccount: string;
  readonly beneficiaryIfsc: string;
  readonly createdAtMs: number;
  /** What decided its timeline: a rule (`scenario/rule`), or the settlement of a scenario. */
  readonly plannedBy: string;
  /** Decided at initiate. The first `stepsDone` of it have happened. */
  readonly timeline: readonly Step[];
  readonly stepsDone: number;
  readonly hidden: Hidden | null;
  /** Status reads so far; counted only while something waits for them. */
  readonly reads: number;
  readonly state: State;
  /** Drawn at initiate, 0 to 999,999,999: the UTR is made of it when there is one. */
  readonly utrSerial: number;
  readonly utr: string | null;
  /** When it left PENDING; a later reversal does not move it. */
  readonly completedAtMs: number | null;
}

/** What is known of a payout when it is made: all of it but what has happened since. */
export type NewTransaction = Omit<Transaction, 'stepsDone' | 'reads' | 'state' | 'utr' | 'completedAtMs'>;

/** How far a payout has come on its timeline. */
export type Progress = Pick<Transaction, 'stepsDone' | 'state' | 'utr' | 'completedAtMs'>;

type Planned = Pick<Transaction, 'timeline' | 'stepsDone'>;

/** A step that has happened. `from` and `to` are the same when only the UTR came. */
export interface Change {
  readonly txnId: string;
  readonly clientRefId: string;
  readonly from: State;
  readonly to: State;
  readonly atMs: number;
  readonly utr: string | null;
}

/** The legal edges. The interface shows the states and only the way into PENDING: the rest is our reading of it. */
const NEXT: Record<State, readonly State[]> = {
  PENDING: ['SUCCESS', 'FAILED', 'REVERSED'],
  SUCCESS: ['REVERSED'],
  FAILED: [],
  REVERSED: [],
};

export const mayMove = (from: State, to: State): boolean => NEXT[from].includes(to);

/** The states that a payout can go to from here. */
export const legalNext = (from: State): readonly State[] => NEXT[from];

/** FAILED and REVERSED give the money back. */
export const isMoneyBack = (state: State): boolean => state === 'FAILED' || state === 'REVERSED';

/** The payout as it is stored at initiate: PENDING, whatever its timeline says of the same instant. */
export function born(payout: NewTransaction): Transaction {
  let from: State = 'PENDING';
  let dueMs = payout.createdAtMs;
  for (const step of payout.timeline) {
    invariant(
      step.to === null || mayMove(from, step.to),
      `a timeline takes legal edges only, not to ${step.to}`,
    );
    invariant((step.dueMs === null) !== (step.polls === null), 'a step waits for its time or for reads');
    invariant(step.dueMs === null || step.dueMs >= dueMs, 'a timeline is in order of due time');
    from = step.to ?? from;
    dueMs = step.dueMs ?? dueMs;
  }
  // field by field: V8 gives each copy by spread with further fields a shape of its own, for some microseconds
  return {
    txnId: payout.txnId,
    clientRefId: payout.clientRefId,
    nth: payout.nth,
    fingerprint: payout.fingerprint,
    amountPaise: payout.amountPaise,
    transferMode: payout.transferMode,
    beneficiaryName: payout.beneficiaryName,
    beneficiaryAccount: payout.beneficiaryAccount,
    beneficiaryIfsc: payout.beneficiaryIfsc,
    createdAtMs: payout.createdAtMs,
    plannedBy: payout.plannedBy,
    timeline: payout.timeline,
    stepsDone: 0,
    hidden: payout.hidden,
    reads: 0,
    state: 'PENDING',
    utrSerial: payout.utrSerial,
    utr: null,
    completedAtMs: null,
  };
}

/** The next step of a payout, or undefined when nothing is planned any more. */
export const nextStep = ({ timeline, stepsDone }: Planned): Step | undefined => timeline[stepsDone];

/**
 * How far a payout has come after a step.
 *
 * @param step the next of its timeline
 * @param atMs what the step is stamped with
 * @param utr the bank reference to show from now on; null when there is none
 */
export function afterStep(
  { stepsDone, state, completedAtMs }: Progress,
  step: Step | undefined,
  atMs: number,
  utr: string | null,
): Progress {
  invariant(step !== undefined, 'a timeline that has ended goes no further');
  invariant(step.to === null || mayMove(state, step.to), `no edge from ${state} to ${step.to}`);
  return {
    stepsDone: stepsDone + 1,
    state: step.to ?? state,
    utr,
    completedAtMs: step.to === null ? completedAtMs : (completedAtMs ?? atMs),
  };
}

/** Its timeline with all that was still planned called off, and one step to a state in its place. */
export function withForcedStep(
  { timeline, stepsDone }: Planned,
  to: State,
  atMs: number,
  utr: boolean,
): readonly Step[] {
  return [...timeline.slice(0, stepsDone), { dueMs: atMs, polls: null, to, utr, forced: true }];
}

/** True while status reads make something happen, so that they have to be counted. */
export const countsReads = ({ hidden, timeline, stepsDone }: Transaction): boolean =>
  (hidden !== null && 'reads' in hidden) ||
  timeline.some(({ polls }, index) => index >= stepsDone && polls !== null);

/** Whether a status read, the `reads`th, does not know the payout. */
export const isHidden = ({ hidden, reads }: Transaction, nowMs: number): boolean =>
  hidden !== null && ('reads' in hidden ? reads <= hidden.reads : nowMs < hidden.untilMs);

/** The payout as it was at a time; as it was born, for a time before it was. */
export function asOf(transaction: Transaction, atMs: number): Transaction {
  const done = transaction.timeline.slice(0, transaction.stepsDone);
  const seen = done.filter((step) => step.dueMs! <= atMs);
  if (seen.length === done.length) return transaction;
  const states = seen.map(({ to }) => to).filter((to) => to !== null);
  return {
    ...transaction,
    stepsDone: seen.length,
    state: states.at(-1) ?? 'PENDING',
    utr: seen.some(({ utr }) => utr) ? transaction.utr : null,
    completedAtMs: states.length > 0 ? transaction.completedAtMs : null,
  };
}

import type { State, TransferMode } from '../contract/payout.ts';
import { invariant } from './invariant.ts';

/** One step of a timeline: what happens to a payout, and when. */
export interface Step {
  /** World time, ms since the epoch. The step is stamped with this time, whenever it is applied. */
  readonly dueMs: number;
  readonly to: State;
}

/** One payout: plain, serialisable data that is replaced as a whole when it changes. */
export interface Transaction {
  readonly txnId: string;
  readonly clientRefId: string;
  /** Tells one request body from another, for a client_ref_id that is sent again. */
  readonly fingerprint: string;
  readonly amountPaise: number;
  readonly transferMode: TransferMode;
  readonly beneficiaryName: string;
  readonly beneficiaryAccount: string;
  readonly beneficiaryIfsc: string;
  readonly createdAtMs: number;
  /** Decided at initiate, in order of due time. The first `stepsDone` of it have happened. */
  readonly timeline: readonly Step[];
  readonly stepsDone: number;
  readonly state: State;
  /** Drawn at initiate, 0 to 999,999,999: the UTR is made of it when there is one. */
  readonly utrSerial: number;
  readonly utr: string | null;
  /** When it left PENDING; a later reversal does not move it. */
  readonly completedAtMs: number | null;
}

/** What is known of a payout when it is made: all of it but what has happened since. */
export type NewTransaction = Omit<Transaction, 'stepsDone' | 'state' | 'utr' | 'completedAtMs'>;

/** A change of state that has happened. */
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

/** FAILED and REVERSED give the money back. */
export const isMoneyBack = (state: State): boolean => state === 'FAILED' || state === 'REVERSED';

/** A payout that fails never reached the beneficiary's bank, so it gets no UTR; the others have one. */
export const hasUtr = (state: State): boolean => state === 'SUCCESS' || state === 'REVERSED';

/** The payout as it is stored at initiate: PENDING, whatever its timeline says of the same instant. */
export function born(payout: NewTransaction): Transaction {
  const { timeline } = payout;
  timeline.forEach((step, index) => {
    const from = timeline[index - 1];
    invariant(
      mayMove(from?.to ?? 'PENDING', step.to),
      `a timeline takes legal edges only, not to ${step.to}`,
    );
    invariant(step.dueMs >= (from?.dueMs ?? payout.createdAtMs), 'a timeline is in order of due time');
  });
  return { ...payout, stepsDone: 0, state: 'PENDING', utr: null, completedAtMs: null };
}

/** The next step of a payout, or undefined when nothing is planned any more. */
export const nextStep = (transaction: Transaction): Step | undefined =>
  transaction.timeline[transaction.stepsDone];

/**
 * The payout after the next step of its timeline, stamped with the step's own due time.
 *
 * @param utr the bank reference to show from now on; null when there is none
 */
export function afterStep(transaction: Transaction, step: Step, utr: string | null): Transaction {
  invariant(mayMove(transaction.state, step.to), `no edge from ${transaction.state} to ${step.to}`);
  return {
    ...transaction,
    stepsDone: transaction.stepsDone + 1,
    state: step.to,
    utr,
    completedAtMs: transaction.completedAtMs ?? step.dueMs,
  };
}

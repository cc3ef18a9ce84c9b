import type { LearnedDialect } from './learned-dialect.ts';
import type { Asked, Beneficiary, ProbeRequest } from './probe-exchange.ts';

/** A payout that a probe has made. */
export interface ProbePayout {
  readonly reference: string;
  readonly txnId: string;
  readonly amount: number;
}

/** What the levels of a probe share. */
export interface ProbeRun {
  /** Sends a request, and learns what every response shows. @throws ProbeStopped without a response, and at a rate limit */
  readonly ask: (request: ProbeRequest) => Promise<Asked>;
  readonly learned: LearnedDialect;
  /** A reference of this probe that no other uses. */
  readonly reference: (kind: string) => string;
  readonly beneficiary: Beneficiary;
  /** Waits before a payout is read again. */
  readonly pause: () => Promise<void>;
  readonly payouts: ProbePayout[];
}

import type { RouteName } from '../../contract/scenario-document.ts';

/** How an exchange stands: not answered so far, answered, broken by a fault that a rule ordered, or left by the client. */
export type ExchangeOutcome = 'pending' | 'answered' | 'fault' | 'client_gone';

export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What was answered, or would have been but for a fault. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/**
 * One request to a world, and what became of it. It is a record of what is known at one moment: while the exchange
 * goes on, a newer one takes its place in the journal.
 */
export interface Exchange {
  /** Which request of its world it is, counted from 1; 0 for a request outside the journal. */
  readonly nth: number;
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  /** Without keys. */
  readonly headers: RequestHeaders;
  /** World time and wall time at which it came, ms since the epoch. */
  readonly atMs: number;
  readonly wallMs: number;
  readonly outcome: ExchangeOutcome;
  readonly worldId: string | undefined;
  readonly route: RouteName | undefined;
  /** The body as it came. */
  readonly body: string | undefined;
  /** Which attempt of its reference it is, from 1; 0 where attempts are not counted. */
  readonly attempt: number | undefined;
  readonly answer: Answered | undefined;
  readonly durationMs: number | undefined;
  readonly balanceBeforePaise: number | undefined;
  readonly balancePaise: number | undefined;
  readonly code: string | undefined;
  readonly clientRefId: string | undefined;
  readonly txnId: string | undefined;
  readonly account: string | undefined;
  readonly replayed: boolean | undefined;
  readonly warnings: readonly string[] | undefined;
  /** The setting whose limit made the answer up. */
  readonly limit: string | undefined;
  /** `scenario/rule`, when a rule made the answer. */
  readonly rule: string | undefined;
  /** Whether the payout happened, for a request that met a rule. */
  readonly committed: boolean | undefined;
  readonly delayMs: number | undefined;
  readonly fault: string | undefined;
}

import type { RouteName } from '../contract/scenario.ts';

/** How an exchange stands: not answered so far, answered, broken by a fault that was ordered, or left by the client. */
type ExchangeOutcome = 'pending' | 'answered' | 'fault' | 'client_gone';

/** What was answered, or would have been but for a fault. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/**
 * One request that a world was asked, and what became of it: gathered on its way, for the journal and for the log. All its
 * fields are there from the beginning: V8 would move an object that grows field by field again and again.
 */
export interface Exchange {
  /** The how manieth request of its world it is, from 1; 0 while it has none. */
  nth: number;
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** World time and wall time at which it came, ms since the epoch. */
  atMs: number;
  wallMs: number;
  outcome: ExchangeOutcome;
  worldId: string | undefined;
  route: RouteName | undefined;
  /** The body as it came. */
  body: string | undefined;
  /** The how manieth time its reference was sent; 0 when nobody counts. */
  attempt: number | undefined;
  answer: Answered | undefined;
  durationMs: number | undefined;
  balanceBeforePaise: number | undefined;
  balancePaise: number | undefined;
  code: string | undefined;
  clientRefId: string | undefined;
  txnId: string | undefined;
  account: string | undefined;
  replayed: boolean | undefined;
  warnings: readonly string[] | undefined;
  /** The setting whose limit made the answer up. */
  limit: string | undefined;
  /** `scenario/rule`, when a rule made the answer. */
  rule: string | undefined;
  /** Whether the payout happened, for a request that met a rule. */
  committed: boolean | undefined;
  delayMs: number | undefined;
  fault: string | undefined;
  /** True for what the log need not tell. */
  quiet: boolean | undefined;
}

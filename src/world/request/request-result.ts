import type { Dialect } from '../../contract/dialect.ts';
import type { RefusalData } from '../../contract/errors.ts';
import type { RouteName } from '../../contract/match.ts';
import type { Payout } from '../../contract/snapshot-lines.ts';
import type { Effect, Hold } from '../../scenario/rule.ts';

/** The result of a request of the service: plain data, from which HTTP makes its response. */
export interface RequestResult {
  readonly route: RouteName;
  /** Which request of its world it is, counted from 1. */
  readonly request: number;
  /** The dialect of the response. */
  readonly dialect: Dialect;
  /** Which attempt of its reference it is, from 1; 0 where attempts are not counted. */
  readonly attempt: number;
  /** How a rule changes what the client sees; null for the normal response. */
  readonly effect: SeenEffect | null;
  readonly answer: Answer;
  /** Whether this request made a payout. */
  readonly committed: boolean;
  /** The balance before and after it; null when the ledger was not asked. */
  readonly balances: { readonly beforePaise: number; readonly afterPaise: number } | null;
  /** Set when a rule holds the request. While it has only arrived, nothing was done and the response is `none`. */
  readonly hold?: Hold & { readonly id: number };
}

/** What a rule does to the response. */
export interface SeenEffect extends Pick<Effect, 'respond' | 'fault'> {
  /** The rule: `scenario/rule`. */
  readonly rule: string;
  /** Wall time, ms. */
  readonly delayMs: number;
  /** How long its limit still refuses requests, in ms of world time; null for a rule without a limit. */
  readonly limitLeftMs: number | null;
  /** World time when the request was handled, ms since the epoch. */
  readonly nowMs: number;
  /** The bytes of the fault `garbage`, from 0 to 255; empty for all others. */
  readonly garbage: readonly number[];
}

/** The normal response: that of the ledger, or the one it would have given if it had been asked. */
export type Answer =
  | { readonly kind: 'payout'; readonly payout: Payout; readonly replayed: boolean }
  | { readonly kind: 'balance'; readonly balancePaise: number; readonly lastUpdatedMs: number }
  | { readonly kind: 'refused'; readonly refusal: RefusalData }
  /** Nothing was done, and a rule's own answer replaces the normal one. */
  | { readonly kind: 'none' };

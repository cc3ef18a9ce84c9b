import type { Change, NewTransaction, Transaction } from '../domain/transaction.ts';
import type { Entry, Wallet } from '../domain/wallet.ts';

/** The world that an operation is on. A ledger opens its book at the first operation that names it. */
export interface BookRef {
  readonly worldId: string;
  readonly openingBalancePaise: number;
  /** World time at which the wallet was opened, ms since the epoch. */
  readonly openedAtMs: number;
}

/** What every operation reports, since each applies all steps due by its `nowMs` before it acts. */
export interface Settled {
  /** In the order in which they happened: by due time, then creation. */
  readonly changes: readonly Change[];
  /** World time of the next step of this world, or null when nothing is planned. */
  readonly nextDueMs: number | null;
}

export type InitiateOutcome = Settled &
  (
    | { readonly kind: 'accepted'; readonly transaction: Transaction }
    /** The reference was used before: the payout it made, as it stands, and whether the body was the same. */
    | { readonly kind: 'repeated'; readonly transaction: Transaction; readonly sameBody: boolean }
    | { readonly kind: 'insufficient'; readonly balancePaise: number }
    | { readonly kind: 'full'; readonly maxTransactions: number }
  );

export interface BalanceOutcome extends Settled {
  readonly balancePaise: number;
  /** World time of the newest entry. */
  readonly lastUpdatedMs: number;
}

export interface FindOutcome extends Settled {
  readonly transaction: Transaction | null;
}

export interface InspectOutcome extends Settled {
  readonly wallet: Wallet;
  readonly entries: readonly Entry[];
  readonly transactions: readonly Transaction[];
}

/** What names a payout: the service's identifier, or the client's own. */
export type TransactionKey = { readonly txnId: string } | { readonly clientRefId: string };

/**
 * The seam to storage. Each method is one atomic step on plain, serialisable data: it gets all it needs as
 * arguments, reads no clock, draws nothing and calls nothing back, so that a ledger on a shared data store can
 * stand in the place of the one in memory. Time never runs backwards for a book: an earlier `nowMs` counts as
 * the latest one seen.
 */
export interface Ledger {
  /**
   * Makes the payout, unless its reference was used before, the balance cannot cover it, or the ledger is full
   * (looked at in that order). Only `accepted` changes anything.
   */
  initiate(book: BookRef, nowMs: number, payout: NewTransaction): Promise<InitiateOutcome>;
  find(book: BookRef, nowMs: number, key: TransactionKey): Promise<FindOutcome>;
  balance(book: BookRef, nowMs: number): Promise<BalanceOutcome>;
  /** Applies at most `limit` of the steps due, the oldest first. `nextDueMs` tells whether some are left. */
  settle(book: BookRef, nowMs: number, limit: number): Promise<Settled>;
  /** All of the book, for an audit. */
  inspect(book: BookRef, nowMs: number): Promise<InspectOutcome>;
  /** Forgets the world, its money and its transactions. */
  drop(worldId: string): Promise<void>;
}

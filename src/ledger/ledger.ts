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
    /** The reference was used before: the latest payout it made, as it stands, and whether the body was the same. */
    | { readonly kind: 'repeated'; readonly transaction: Transaction; readonly sameBody: boolean }
    /** The balance cannot cover it; or, `remembered`, could not when the reference was first used. */
    | { readonly kind: 'insufficient'; readonly balancePaise: number; readonly remembered: boolean }
    | { readonly kind: 'full'; readonly maxTransactions: number }
  );

export interface BalanceOutcome extends Settled {
  readonly balancePaise: number;
  /** World time of the newest entry. */
  readonly lastUpdatedMs: number;
}

export interface FindOutcome extends Settled {
  readonly transaction: Transaction | null;
  /** The rule that hides the payout from this read: `scenario/rule`. */
  readonly hiddenBy: string | null;
}

export interface InspectOutcome extends Settled {
  readonly wallet: Wallet;
  readonly entries: readonly Entry[];
  readonly transactions: readonly Transaction[];
}

/** What names a payout: the service's identifier, the client's own, or both, which must then name the same one. */
export interface TransactionKey {
  readonly txnId?: string | undefined;
  readonly clientRefId?: string | undefined;
}

export interface InitiateOptions {
  /** Whether a reference that was refused for the balance stays refused. */
  readonly rememberInsufficient: boolean;
}

/**
 * The seam to storage. Each method is one atomic step on plain, serialisable data: it gets all it needs as
 * arguments, reads no clock, draws nothing and calls nothing back, so that a ledger on a shared data store can
 * stand in the place of the one in memory. Time never runs backwards for a book: an earlier `nowMs` counts as
 * the latest one seen.
 */
export interface Ledger {
  /**
   * Makes the payout, unless its reference has made `payout.nth` payouts before, the balance cannot cover it, or the
   * ledger is full (looked at in that order). Only `accepted` moves money.
   */
  initiate(
    book: BookRef,
    nowMs: number,
    payout: NewTransaction,
    options: InitiateOptions,
  ): Promise<InitiateOutcome>;
  /**
   * One status read: it counts, which may be what a step or a hidden payout waits for.
   *
   * @param asOfMs shows the payout as it was at this world time; null for now
   */
  find(book: BookRef, nowMs: number, key: TransactionKey, asOfMs: number | null): Promise<FindOutcome>;
  balance(book: BookRef, nowMs: number): Promise<BalanceOutcome>;
  /** Applies at most `limit` of the steps due, the oldest first. `nextDueMs` tells whether some are left. */
  settle(book: BookRef, nowMs: number, limit: number): Promise<Settled>;
  /** All of the book, for an audit. */
  inspect(book: BookRef, nowMs: number): Promise<InspectOutcome>;
  /** Forgets the world, its money and its transactions. */
  drop(worldId: string): Promise<void>;
}

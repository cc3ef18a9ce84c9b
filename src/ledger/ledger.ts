import type { State } from '../contract/payout.ts';
import type { Change, NewTransaction, Transaction } from '../payout/payout.ts';
import type { Entry, Wallet } from '../payout/wallet.ts';

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

/** The balance around an operation, both after what was due. */
interface Weighed extends Settled {
  readonly balanceBeforePaise: number;
  readonly balancePaise: number;
}

export type InitiateOutcome = Weighed &
  (
    | { readonly kind: 'accepted'; readonly transaction: Transaction }
    /** The reference was used before: the latest payout it made, as it stands, and whether the body was the same. */
    | { readonly kind: 'repeated'; readonly transaction: Transaction; readonly sameBody: boolean }
    /** The balance cannot cover it; or, `remembered`, could not when the reference was first used. */
    | { readonly kind: 'insufficient'; readonly remembered: boolean }
    | { readonly kind: 'full'; readonly maxTransactions: number }
  );

export interface BalanceOutcome extends Weighed {
  /** World time of the newest entry. */
  readonly lastUpdatedMs: number;
}

export interface FindOutcome extends Weighed {
  readonly transaction: Transaction | null;
  /** The rule that hides the payout from this read: `scenario/rule`. */
  readonly hiddenBy: string | null;
}

/** Money put in from outside, or taken out, by no payout. */
export type MoveOutcome = Weighed &
  (
    | { readonly kind: 'moved'; readonly entry: Entry }
    /** The balance cannot cover the debit, or the wallet has no room for the credit. */
    | { readonly kind: 'refused' }
  );

export type TransitionOutcome = Settled &
  (
    | { readonly kind: 'moved'; readonly transaction: Transaction }
    | { readonly kind: 'illegal'; readonly transaction: Transaction }
    | { readonly kind: 'unknown' }
  );

/** So many payouts, worth so much. */
export interface Tally {
  readonly count: number;
  readonly paise: number;
}

export interface SummaryOutcome extends Settled {
  readonly wallet: Wallet;
  readonly openingBalancePaise: number;
  readonly lastUpdatedMs: number;
  readonly tallies: Readonly<Record<State, Tally>>;
  readonly entries: number;
  /** The invariants that do not hold: our own fault, and always none. */
  readonly broken: readonly string[];
}

/** Which part of a list: `limit` of it from a position on, forwards (oldest first) or backwards. */
export interface PageRequest {
  /** The position that the page before ended at; null for the first page. */
  readonly from: number | null;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/** A part of a list. A search looks at so many items at once: a page may be short and yet not the last. */
export interface Page<T> extends Settled {
  readonly items: readonly T[];
  /** Where the next page begins; null when this was the last. */
  readonly next: number | null;
}

export interface TransactionFilter {
  readonly txnId?: string | undefined;
  readonly state?: State | undefined;
  readonly clientRefId?: string | undefined;
}

/** A list that need not be there as a whole: what is asked for is made. An array is one. */
export interface Sequence<T> extends Iterable<T> {
  readonly length: number;
  slice(from: number, to: number): readonly T[];
}

/** What a ledger knows of one world but its entries and transactions, which are many. */
export interface BookHead {
  readonly nowMs: number;
  readonly openingBalancePaise: number;
  readonly wallet: Wallet;
  /** References that were refused for the balance, where the dialect remembers them. */
  readonly refused: readonly string[];
}

/** All that a ledger knows of one world: what is not in it follows from it. It stays as it is, whatever happens later. */
interface BookState extends BookHead {
  /** In the order in which they were made. */
  readonly entries: Sequence<Entry>;
  readonly transactions: Sequence<Transaction>;
}

/** Some of the entries and transactions of a book. */
export interface BookPiece {
  readonly entries?: readonly Entry[];
  readonly transactions?: readonly Transaction[];
}

export interface InspectOutcome extends Settled, BookState {}

export type RestoreOutcome =
  | ({ readonly kind: 'restored' } & Settled)
  | { readonly kind: 'full'; readonly maxTransactions: number }
  /** The state contradicts itself: the first thing that is wrong with it. */
  | { readonly kind: 'damaged'; readonly what: string };

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
  /** Puts money into the wallet, or takes it out. @param amountPaise whole paise above 0 */
  move(
    book: BookRef,
    nowMs: number,
    direction: 'credit' | 'debit',
    amountPaise: number,
  ): Promise<MoveOutcome>;
  /**
   * Forces a payout into a state, by a legal edge only. What was planned for it is called off.
   *
   * @param utr whether it has a UTR from then on
   */
  transition(
    book: BookRef,
    nowMs: number,
    txnId: string,
    to: State,
    utr: boolean,
  ): Promise<TransitionOutcome>;
  /** Applies at most `limit` of the steps due, the oldest first. `nextDueMs` tells whether some are left. */
  settle(book: BookRef, nowMs: number, limit: number): Promise<Settled>;
  summary(book: BookRef, nowMs: number): Promise<SummaryOutcome>;
  /** The transactions, in the order in which they were made. Looking at them counts as no status read. */
  transactions(
    book: BookRef,
    nowMs: number,
    filter: TransactionFilter,
    page: PageRequest,
  ): Promise<Page<Transaction>>;
  /** @param txnId only those of this payout; null for all */
  entries(book: BookRef, nowMs: number, txnId: string | null, page: PageRequest): Promise<Page<Entry>>;
  /** All of the book: for an audit, or to be kept and restored. */
  inspect(book: BookRef, nowMs: number): Promise<InspectOutcome>;
  /** Opens the book anew, if nothing but its opening stands in it. @returns whether it did */
  reopen(book: BookRef): Promise<boolean>;
  /** Begins a book that nobody sees, for a state that comes in pieces. @returns what names it */
  draft(head: BookHead): Promise<string>;
  /** Adds to a draft, and checks what is added: the entries first, then the transactions, each in their order. */
  extend(draft: string, piece: BookPiece): Promise<void>;
  /**
   * Puts a draft in the place of all that the book has, at once. Nothing changes if anything in it was found wrong, or if there
   * is no room; the draft is gone in any case.
   */
  restore(book: BookRef, draft: string): Promise<RestoreOutcome>;
  /** Forgets a draft, if there still is one. */
  discard(draft: string): Promise<void>;
  /** Forgets the world, its money and its transactions. */
  drop(worldId: string): Promise<void>;
}

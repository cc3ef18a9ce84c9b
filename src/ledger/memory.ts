import type { State } from '../contract/payout.ts';
import { invariant } from '../payout/invariant.ts';
import {
  born,
  countsReads,
  mayMove,
  withForcedStep,
  type NewTransaction,
  type Transaction,
} from '../payout/payout.ts';
import { covers, credit, debit, hasRoom, payOut, type Entry } from '../payout/wallet.ts';
import { brokenInvariants } from './book-audit.ts';
import { BookDraft } from './book-draft.ts';
import { entriesPage, transactionsPage } from './book-pages.ts';
import {
  apply,
  countRead,
  enter,
  heldBy,
  nextDueOf,
  openBook,
  positionOf,
  seen,
  settleDue,
  take,
  type Book,
} from './book.ts';
import type {
  BalanceOutcome,
  BookHead,
  BookPiece,
  BookRef,
  FindOutcome,
  InitiateOptions,
  InitiateOutcome,
  InspectOutcome,
  Ledger,
  MoveOutcome,
  Page,
  PageRequest,
  RestoreOutcome,
  Settled,
  SummaryOutcome,
  TransactionFilter,
  TransactionKey,
  TransitionOutcome,
} from './ledger.ts';

/**
 * The ledger of one process. A step is atomic because nothing in it waits: each method does all of its work before
 * it returns its promise.
 */
export class MemoryLedger implements Ledger {
  readonly #books = new Map<string, Book>();
  readonly #maxTransactions: number;
  readonly #drafts = new Map<string, BookDraft>();
  #draftsBegun = 0;
  #held = 0;

  /** @param maxTransactions how many transactions all worlds together may hold */
  constructor(maxTransactions: number) {
    this.#maxTransactions = maxTransactions;
  }

  /** Transactions and remembered refusals, of all worlds: what `maxTransactions` bounds. */
  get held(): number {
    return this.#held;
  }

  async initiate(
    ref: BookRef,
    nowMs: number,
    payout: NewTransaction,
    { rememberInsufficient }: InitiateOptions,
  ): Promise<InitiateOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const { changes, nextDueMs } = settleDue(book, Infinity);
    const { balancePaise } = book.wallet;
    const unchanged = { changes, nextDueMs, balanceBeforePaise: balancePaise, balancePaise };

    const position = positionOf(book, { clientRefId: payout.clientRefId });
    const earlier = position === undefined ? null : book.transactions.at(position);
    if (earlier !== null && earlier.nth >= payout.nth) {
      const sameBody = earlier.fingerprint === payout.fingerprint;
      return { ...unchanged, kind: 'repeated', transaction: earlier, sameBody };
    }
    const remembered = rememberInsufficient && book.refused.has(payout.clientRefId);
    if (remembered || !covers(book.wallet, payout.amountPaise)) {
      if (rememberInsufficient && !remembered) this.#remember(book, payout.clientRefId);
      return { ...unchanged, kind: 'insufficient', remembered };
    }
    if (this.#held >= this.#maxTransactions)
      return { ...unchanged, kind: 'full', maxTransactions: this.#maxTransactions };

    invariant(!book.ids.has(payout.txnId), 'one txn_id, one transaction');
    invariant(payout.nth === (earlier?.nth ?? 0) + 1, 'the payouts of a reference are counted without a gap');
    const transaction = born(payout);
    book.wallet = payOut(book.wallet, payout.amountPaise);
    enter(book, 'payout', -payout.amountPaise, book.transactions.length, payout.createdAtMs);
    take(book, transaction);
    this.#held += 1;
    return {
      kind: 'accepted',
      transaction,
      changes,
      nextDueMs: nextDueOf(book),
      balanceBeforePaise: balancePaise,
      balancePaise: book.wallet.balancePaise,
    };
  }

  async find(ref: BookRef, nowMs: number, key: TransactionKey, asOfMs: number | null): Promise<FindOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const { changes, nextDueMs } = settleDue(book, Infinity);
    const { balancePaise } = book.wallet;
    const unchanged = { changes, nextDueMs, balanceBeforePaise: balancePaise, balancePaise };
    const position = positionOf(book, key);
    if (position === undefined) return { ...unchanged, transaction: null, hiddenBy: null };
    const found = book.transactions.at(position);
    if (!countsReads(found)) {
      const { transaction, hiddenBy } = seen(book, found, asOfMs);
      return { changes, nextDueMs, balanceBeforePaise: balancePaise, balancePaise, transaction, hiddenBy };
    }
    const read = [...countRead(book, position, found.reads), ...settleDue(book, Infinity).changes];
    return {
      changes: [...changes, ...read],
      nextDueMs: nextDueOf(book),
      balanceBeforePaise: balancePaise,
      balancePaise: book.wallet.balancePaise,
      ...seen(book, book.transactions.at(position), asOfMs),
    };
  }

  async balance(ref: BookRef, nowMs: number): Promise<BalanceOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const { changes, nextDueMs } = settleDue(book, Infinity);
    const { balancePaise } = book.wallet;
    return {
      changes,
      nextDueMs,
      balanceBeforePaise: balancePaise,
      balancePaise,
      lastUpdatedMs: book.entries.lastAtMs!,
    };
  }

  async move(
    ref: BookRef,
    nowMs: number,
    direction: 'credit' | 'debit',
    amountPaise: number,
  ): Promise<MoveOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    const balanceBeforePaise = book.wallet.balancePaise;
    const isPossible =
      direction === 'credit' ? hasRoom(book.wallet, amountPaise) : covers(book.wallet, amountPaise);
    if (!isPossible) {
      return { ...settled, kind: 'refused', balanceBeforePaise, balancePaise: balanceBeforePaise };
    }
    book.wallet = (direction === 'credit' ? credit : debit)(book.wallet, amountPaise);
    const signedPaise = direction === 'credit' ? amountPaise : -amountPaise;
    enter(book, direction, signedPaise, null, book.nowMs);
    const entry = book.entries.at(book.entries.length - 1);
    return { ...settled, kind: 'moved', entry, balanceBeforePaise, balancePaise: book.wallet.balancePaise };
  }

  async transition(
    ref: BookRef,
    nowMs: number,
    txnId: string,
    to: State,
    utr: boolean,
  ): Promise<TransitionOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    const position = positionOf(book, { txnId });
    if (position === undefined) return { ...settled, kind: 'unknown' };
    const transaction = book.transactions.at(position);
    if (!mayMove(transaction.state, to)) return { ...settled, kind: 'illegal', transaction };
    book.transactions.setTimeline(position, withForcedStep(transaction, to, book.nowMs, utr));
    const forced = apply(book, position, book.nowMs);
    return {
      kind: 'moved',
      transaction: book.transactions.at(position),
      changes: [...settled.changes, forced],
      nextDueMs: nextDueOf(book),
    };
  }

  async settle(ref: BookRef, nowMs: number, limit: number): Promise<Settled> {
    return settleDue(this.#bookAt(ref, nowMs), limit);
  }

  async summary(ref: BookRef, nowMs: number): Promise<SummaryOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const { openingBalancePaise, tallies, entries } = book;
    const settled = settleDue(book, Infinity);
    return {
      ...settled,
      openingBalancePaise,
      wallet: book.wallet,
      lastUpdatedMs: entries.lastAtMs!,
      tallies: structuredClone(tallies),
      entries: entries.length,
      broken: brokenInvariants(book),
    };
  }

  async transactions(
    ref: BookRef,
    nowMs: number,
    filter: TransactionFilter,
    page: PageRequest,
  ): Promise<Page<Transaction>> {
    const book = this.#bookAt(ref, nowMs);
    return { ...settleDue(book, Infinity), ...transactionsPage(book, filter, page) };
  }

  async entries(ref: BookRef, nowMs: number, txnId: string | null, page: PageRequest): Promise<Page<Entry>> {
    const book = this.#bookAt(ref, nowMs);
    return { ...settleDue(book, Infinity), ...entriesPage(book, txnId, page) };
  }

  async inspect(ref: BookRef, nowMs: number): Promise<InspectOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    const transactions = book.transactions.picture();
    return {
      ...settled,
      nowMs: book.nowMs,
      openingBalancePaise: book.openingBalancePaise,
      wallet: book.wallet,
      entries: book.entries.picture((position) => transactions.idAt(position)),
      transactions,
      refused: [...book.refused],
    };
  }

  async reopen(ref: BookRef): Promise<boolean> {
    const book = this.#books.get(ref.worldId);
    if (book !== undefined && (book.entries.length > 1 || book.refused.size > 0)) return false;
    this.#books.set(ref.worldId, openBook(ref));
    return true;
  }

  async draft(head: BookHead): Promise<string> {
    const draft = String((this.#draftsBegun += 1));
    this.#drafts.set(draft, new BookDraft(head));
    return draft;
  }

  async extend(draft: string, piece: BookPiece): Promise<void> {
    this.#draftOf(draft).extend(piece);
  }

  async restore(ref: BookRef, draft: string): Promise<RestoreOutcome> {
    const made = this.#draftOf(draft);
    this.#drafts.delete(draft);
    const held = this.#held - heldBy(this.#books.get(ref.worldId)) + made.held;
    if (held > this.#maxTransactions) return { kind: 'full', maxTransactions: this.#maxTransactions };
    const book = made.finish();
    if ('what' in book) return { kind: 'damaged', what: book.what };
    this.#books.set(ref.worldId, book);
    this.#held = held;
    return { kind: 'restored', changes: [], nextDueMs: nextDueOf(book) };
  }

  async discard(draft: string): Promise<void> {
    this.#drafts.delete(draft);
  }

  async drop(worldId: string): Promise<void> {
    this.#held -= heldBy(this.#books.get(worldId));
    this.#books.delete(worldId);
  }

  #remember(book: Book, clientRefId: string): void {
    if (this.#held >= this.#maxTransactions) return;
    book.refused.add(clientRefId);
    this.#held += 1;
  }

  #draftOf(draft: string): BookDraft {
    const made = this.#drafts.get(draft);
    invariant(made !== undefined, 'a draft is restored once');
    return made;
  }

  #bookAt(ref: BookRef, nowMs: number): Book {
    let book = this.#books.get(ref.worldId);
    if (book === undefined) {
      book = openBook(ref);
      this.#books.set(ref.worldId, book);
    }
    book.nowMs = Math.max(book.nowMs, nowMs);
    return book;
  }
}

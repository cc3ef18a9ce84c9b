import TinyQueue from 'tinyqueue';
import { invariant } from '../domain/invariant.ts';
import {
  afterStep,
  asOf,
  born,
  countsReads,
  isHidden,
  isMoneyBack,
  nextDueMs,
  nextStep,
  type Change,
  type NewTransaction,
  type Transaction,
} from '../domain/transaction.ts';
import { freeUtr } from '../domain/utr.ts';
import {
  covers,
  openWallet,
  payOut,
  refund,
  type Entry,
  type EntryKind,
  type Wallet,
} from '../domain/wallet.ts';
import type {
  BalanceOutcome,
  BookRef,
  FindOutcome,
  InitiateOptions,
  InitiateOutcome,
  InspectOutcome,
  Ledger,
  Settled,
  TransactionKey,
} from './ledger.ts';

/** The next step of one payout, in the queue of its world. */
interface Due {
  readonly dueMs: number;
  readonly createdAtMs: number;
  readonly txnId: string;
}

/** All that the ledger keeps of one world. */
interface Book {
  nowMs: number;
  wallet: Wallet;
  readonly entries: Entry[];
  readonly transactions: Map<string, Transaction>;
  readonly references: Map<string, string>;
  /** References that were refused for the balance, where the dialect remembers them. */
  readonly refused: Set<string>;
  readonly utrs: Set<string>;
  readonly due: TinyQueue<Due>;
}

const NO_CHANGES: readonly Change[] = [];

/**
 * By due time, then creation; payouts of one instant by their id, which does not depend on the order of arrival.
 */
const byDueTime = (a: Due, b: Due): number =>
  a.dueMs - b.dueMs || a.createdAtMs - b.createdAtMs || (a.txnId < b.txnId ? -1 : 1);

/**
 * The ledger of one process. A step is atomic because nothing in it waits: each method does all of its work before
 * it returns its promise.
 */
export class MemoryLedger implements Ledger {
  readonly #books = new Map<string, Book>();
  readonly #maxTransactions: number;
  /** Transactions and remembered refusals, of all worlds. */
  #held = 0;

  /** @param maxTransactions how many transactions all worlds together may hold */
  constructor(maxTransactions: number) {
    this.#maxTransactions = maxTransactions;
  }

  async initiate(
    ref: BookRef,
    nowMs: number,
    payout: NewTransaction,
    { rememberInsufficient }: InitiateOptions,
  ): Promise<InitiateOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);

    const earlier = findTransaction(book, { clientRefId: payout.clientRefId });
    if (earlier !== null && earlier.nth >= payout.nth) {
      const sameBody = earlier.fingerprint === payout.fingerprint;
      return { ...settled, kind: 'repeated', transaction: earlier, sameBody };
    }
    const remembered = rememberInsufficient && book.refused.has(payout.clientRefId);
    if (remembered || !covers(book.wallet, payout.amountPaise)) {
      if (rememberInsufficient && !remembered) this.#remember(book, payout.clientRefId);
      return { ...settled, kind: 'insufficient', balancePaise: book.wallet.balancePaise, remembered };
    }
    if (this.#isFull) return { ...settled, kind: 'full', maxTransactions: this.#maxTransactions };

    invariant(!book.transactions.has(payout.txnId), 'one txn_id, one transaction');
    invariant(payout.nth === (earlier?.nth ?? 0) + 1, 'the payouts of a reference are counted without a gap');
    const transaction = born(payout);
    book.wallet = payOut(book.wallet, payout.amountPaise);
    enter(book, 'payout', -payout.amountPaise, payout.txnId, payout.createdAtMs);
    book.transactions.set(transaction.txnId, transaction);
    book.references.set(transaction.clientRefId, transaction.txnId);
    this.#held += 1;
    schedule(book, transaction);
    return { kind: 'accepted', transaction, changes: settled.changes, nextDueMs: nextDueOf(book) };
  }

  async find(ref: BookRef, nowMs: number, key: TransactionKey, asOfMs: number | null): Promise<FindOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    const found = findTransaction(book, key);
    if (found === null) return { ...settled, transaction: null, hiddenBy: null };
    if (!countsReads(found)) return { ...settled, ...seen(book, found, asOfMs) };

    const changes = [...settled.changes, ...countRead(book, found), ...settleDue(book, Infinity).changes];
    return {
      changes,
      nextDueMs: nextDueOf(book),
      ...seen(book, book.transactions.get(found.txnId)!, asOfMs),
    };
  }

  async balance(ref: BookRef, nowMs: number): Promise<BalanceOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    return { ...settled, balancePaise: book.wallet.balancePaise, lastUpdatedMs: book.entries.at(-1)!.atMs };
  }

  async settle(ref: BookRef, nowMs: number, limit: number): Promise<Settled> {
    return settleDue(this.#bookAt(ref, nowMs), limit);
  }

  async inspect(ref: BookRef, nowMs: number): Promise<InspectOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    return {
      ...settled,
      wallet: book.wallet,
      entries: [...book.entries],
      transactions: [...book.transactions.values()],
    };
  }

  async drop(worldId: string): Promise<void> {
    const book = this.#books.get(worldId);
    if (book === undefined) return;
    this.#held -= book.transactions.size + book.refused.size;
    this.#books.delete(worldId);
  }

  get #isFull(): boolean {
    return this.#held >= this.#maxTransactions;
  }

  #remember(book: Book, clientRefId: string): void {
    if (this.#isFull) return;
    book.refused.add(clientRefId);
    this.#held += 1;
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

function openBook({ openingBalancePaise, openedAtMs }: BookRef): Book {
  const book: Book = {
    nowMs: openedAtMs,
    wallet: openWallet(openingBalancePaise),
    entries: [],
    transactions: new Map(),
    references: new Map(),
    refused: new Set(),
    utrs: new Set(),
    due: new TinyQueue<Due>([], byDueTime),
  };
  enter(book, 'opening', openingBalancePaise, null, openedAtMs);
  return book;
}

function findTransaction(book: Book, { txnId, clientRefId }: TransactionKey): Transaction | null {
  const id = txnId ?? (clientRefId === undefined ? undefined : book.references.get(clientRefId));
  const transaction = id === undefined ? undefined : book.transactions.get(id);
  const isMeant = clientRefId === undefined || transaction?.clientRefId === clientRefId;
  return transaction !== undefined && isMeant ? transaction : null;
}

/** Writes down why the balance is what it now is. */
function enter(book: Book, kind: EntryKind, amountPaise: number, txnId: string | null, atMs: number): void {
  const { balancePaise } = book.wallet;
  invariant(
    (book.entries.at(-1)?.balancePaise ?? 0) + amountPaise === balancePaise,
    'entries explain every paisa',
  );
  book.entries.push({ kind, amountPaise, balancePaise, txnId, atMs });
}

/** Puts the next step into the queue, if it waits for its time. */
function schedule(book: Book, transaction: Transaction): void {
  const dueMs = nextDueMs(transaction);
  const { createdAtMs, txnId } = transaction;
  if (dueMs !== null) book.due.push({ dueMs, createdAtMs, txnId });
}

const nextDueOf = (book: Book): number | null => book.due.peek()?.dueMs ?? null;

/** Applies the steps due by the book's time, the oldest first, each stamped with its own due time. */
function settleDue(book: Book, limit: number): Settled {
  let changes: Change[] | undefined;
  for (let applied = 0; applied < limit; applied += 1) {
    const due = book.due.peek();
    if (due === undefined || due.dueMs > book.nowMs) break;
    book.due.pop();
    const transaction = book.transactions.get(due.txnId);
    invariant(
      transaction !== undefined && nextDueMs(transaction) === due.dueMs,
      'the queue holds the next step of each payout',
    );
    (changes ??= []).push(apply(book, transaction, due.dueMs));
  }
  return { changes: changes ?? NO_CHANGES, nextDueMs: nextDueOf(book) };
}

/** Counts one status read, and applies the steps that waited for it. */
function countRead(book: Book, found: Transaction): readonly Change[] {
  let transaction: Transaction = { ...found, reads: found.reads + 1 };
  book.transactions.set(transaction.txnId, transaction);
  const changes: Change[] = [];
  for (;;) {
    const polls = nextStep(transaction)?.polls ?? null;
    if (polls === null || polls > transaction.reads) return changes;
    changes.push(apply(book, transaction, book.nowMs));
    transaction = book.transactions.get(transaction.txnId)!;
  }
}

/** What a status read shows of a payout: nothing while it is hidden. */
function seen(
  book: Book,
  transaction: Transaction,
  asOfMs: number | null,
): Pick<FindOutcome, 'transaction' | 'hiddenBy'> {
  if (isHidden(transaction, book.nowMs)) return { transaction: null, hiddenBy: transaction.hidden!.by };
  return { transaction: asOfMs === null ? transaction : asOf(transaction, asOfMs), hiddenBy: null };
}

function apply(book: Book, transaction: Transaction, atMs: number): Change {
  const { txnId, clientRefId, transferMode, amountPaise, state: from, utrSerial } = transaction;
  let { utr } = transaction;
  if (utr === null && nextStep(transaction)?.utr) {
    utr = freeUtr(transferMode, atMs, utrSerial, book.utrs);
    book.utrs.add(utr);
  }
  const moved = afterStep(transaction, atMs, utr);
  book.transactions.set(txnId, moved);
  if (moved.state !== from && isMoneyBack(moved.state)) {
    book.wallet = refund(book.wallet, amountPaise);
    enter(book, 'refund', amountPaise, txnId, atMs);
  }
  schedule(book, moved);
  return { txnId, clientRefId, from, to: moved.state, atMs, utr };
}

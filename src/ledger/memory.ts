import TinyQueue from 'tinyqueue';
import { invariant } from '../domain/invariant.ts';
import {
  afterStep,
  born,
  hasUtr,
  isMoneyBack,
  nextStep,
  type Change,
  type NewTransaction,
  type Step,
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
  #transactionCount = 0;

  /** @param maxTransactions how many transactions all worlds together may hold */
  constructor(maxTransactions: number) {
    this.#maxTransactions = maxTransactions;
  }

  async initiate(ref: BookRef, nowMs: number, payout: NewTransaction): Promise<InitiateOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);

    const earlier = findTransaction(book, payout);
    if (earlier !== null) {
      return {
        ...settled,
        kind: 'repeated',
        transaction: earlier,
        sameBody: earlier.fingerprint === payout.fingerprint,
      };
    }
    if (!covers(book.wallet, payout.amountPaise)) {
      return { ...settled, kind: 'insufficient', balancePaise: book.wallet.balancePaise };
    }
    if (this.#transactionCount >= this.#maxTransactions) {
      return { ...settled, kind: 'full', maxTransactions: this.#maxTransactions };
    }

    invariant(!book.transactions.has(payout.txnId), 'one txn_id, one transaction');
    const transaction = born(payout);
    book.wallet = payOut(book.wallet, payout.amountPaise);
    enter(book, 'payout', -payout.amountPaise, payout.txnId, payout.createdAtMs);
    book.transactions.set(transaction.txnId, transaction);
    book.references.set(transaction.clientRefId, transaction.txnId);
    this.#transactionCount += 1;
    schedule(book, transaction);
    return { kind: 'accepted', transaction, changes: settled.changes, nextDueMs: nextDueMs(book) };
  }

  async find(ref: BookRef, nowMs: number, key: TransactionKey): Promise<FindOutcome> {
    const book = this.#bookAt(ref, nowMs);
    const settled = settleDue(book, Infinity);
    return { ...settled, transaction: findTransaction(book, key) };
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
    this.#transactionCount -= this.#books.get(worldId)?.transactions.size ?? 0;
    this.#books.delete(worldId);
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
    utrs: new Set(),
    due: new TinyQueue<Due>([], byDueTime),
  };
  enter(book, 'opening', openingBalancePaise, null, openedAtMs);
  return book;
}

function findTransaction(book: Book, key: TransactionKey): Transaction | null {
  const txnId = 'clientRefId' in key ? book.references.get(key.clientRefId) : key.txnId;
  return (txnId !== undefined && book.transactions.get(txnId)) || null;
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

function schedule(book: Book, { txnId, createdAtMs, ...rest }: Transaction): void {
  const step = rest.timeline[rest.stepsDone];
  if (step !== undefined) book.due.push({ dueMs: step.dueMs, createdAtMs, txnId });
}

const nextDueMs = (book: Book): number | null => book.due.peek()?.dueMs ?? null;

/** Applies the steps due by the book's time, the oldest first, each stamped with its own due time. */
function settleDue(book: Book, limit: number): Settled {
  let changes: Change[] | undefined;
  for (let applied = 0; applied < limit; applied += 1) {
    const due = book.due.peek();
    if (due === undefined || due.dueMs > book.nowMs) break;
    book.due.pop();
    const transaction = book.transactions.get(due.txnId);
    const step = transaction && nextStep(transaction);
    invariant(
      transaction !== undefined && step?.dueMs === due.dueMs,
      'the queue holds the next step of each payout',
    );
    (changes ??= []).push(apply(book, transaction, step));
  }
  return { changes: changes ?? NO_CHANGES, nextDueMs: nextDueMs(book) };
}

function apply(book: Book, transaction: Transaction, step: Step): Change {
  const { txnId, clientRefId, transferMode, amountPaise, state: from, utrSerial } = transaction;
  let { utr } = transaction;
  if (utr === null && hasUtr(step.to)) {
    utr = freeUtr(transferMode, step.dueMs, utrSerial, book.utrs);
    book.utrs.add(utr);
  }
  const moved = afterStep(transaction, step, utr);
  book.transactions.set(txnId, moved);
  if (isMoneyBack(step.to)) {
    book.wallet = refund(book.wallet, amountPaise);
    enter(book, 'refund', amountPaise, txnId, step.dueMs);
  }
  schedule(book, moved);
  return { txnId, clientRefId, from, to: step.to, atMs: step.dueMs, utr };
}

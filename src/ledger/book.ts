import TinyQueue from 'tinyqueue';
import type { State } from '../contract/payout.ts';
import { invariant } from '../domain/invariant.ts';
import {
  afterStep,
  isHidden,
  isMoneyBack,
  nextDueMs,
  nextStep,
  asOf,
  type Change,
  type Transaction,
} from '../domain/transaction.ts';
import { freeUtr } from '../domain/utr.ts';
import { openWallet, refund, type Entry, type EntryKind, type Wallet } from '../domain/wallet.ts';
import type { BookRef, FindOutcome, Settled, Tally, TransactionKey } from './ledger.ts';

/** The next step of one payout, in the queue of its world. */
interface Due {
  readonly dueMs: number;
  readonly createdAtMs: number;
  readonly txnId: string;
}

type MutableTally = { -readonly [K in keyof Tally]: Tally[K] };

/** All that the ledger in memory keeps of one world. */
export interface Book {
  nowMs: number;
  readonly openingBalancePaise: number;
  wallet: Wallet;
  readonly entries: Entry[];
  readonly transactions: Map<string, Transaction>;
  /** The ids of the transactions, in the order in which they were made. */
  readonly order: string[];
  /** The latest payout of each reference. */
  readonly references: Map<string, string>;
  /** References that were refused for the balance, where the dialect remembers them. */
  readonly refused: Set<string>;
  readonly utrs: Set<string>;
  readonly due: TinyQueue<Due>;
  /** Counted apart from the wallet, so that each proves the other. */
  readonly tallies: Readonly<Record<State, MutableTally>>;
}

const NO_CHANGES: readonly Change[] = [];

/**
 * By due time, then creation; payouts of one instant by their id, which does not depend on the order of arrival.
 */
const byDueTime = (a: Due, b: Due): number =>
  a.dueMs - b.dueMs || a.createdAtMs - b.createdAtMs || (a.txnId < b.txnId ? -1 : 1);

/** A book in which nothing stands, not even its opening. */
export const blankBook = (openingBalancePaise: number, nowMs: number): Book => ({
  nowMs,
  openingBalancePaise,
  wallet: openWallet(openingBalancePaise),
  entries: [],
  transactions: new Map(),
  order: [],
  references: new Map(),
  refused: new Set(),
  utrs: new Set(),
  due: new TinyQueue<Due>([], byDueTime),
  tallies: {
    PENDING: { count: 0, paise: 0 },
    SUCCESS: { count: 0, paise: 0 },
    FAILED: { count: 0, paise: 0 },
    REVERSED: { count: 0, paise: 0 },
  },
});

export function openBook({ openingBalancePaise, openedAtMs }: BookRef): Book {
  const book = blankBook(openingBalancePaise, openedAtMs);
  enter(book, 'opening', openingBalancePaise, null, openedAtMs);
  return book;
}

/** Writes down why the balance is what it now is. */
export function enter(
  book: Book,
  kind: EntryKind,
  amountPaise: number,
  txnId: string | null,
  atMs: number,
): Entry {
  const { balancePaise } = book.wallet;
  invariant(
    (book.entries.at(-1)?.balancePaise ?? 0) + amountPaise === balancePaise,
    'entries explain every paisa',
  );
  const entry: Entry = { kind, amountPaise, balancePaise, txnId, atMs };
  book.entries.push(entry);
  return entry;
}

/** Takes a transaction in that is new to the book. */
export function take(book: Book, transaction: Transaction): void {
  const { txnId, clientRefId, state, amountPaise } = transaction;
  book.transactions.set(txnId, transaction);
  book.order.push(txnId);
  book.references.set(clientRefId, txnId);
  if (transaction.utr !== null) book.utrs.add(transaction.utr);
  count(book, state, 1, amountPaise);
  schedule(book, transaction);
}

function count(book: Book, state: State, by: 1 | -1, amountPaise: number): void {
  const tally = book.tallies[state];
  tally.count += by;
  tally.paise += by * amountPaise;
}

export function findTransaction(book: Book, { txnId, clientRefId }: TransactionKey): Transaction | null {
  const id = txnId ?? (clientRefId === undefined ? undefined : book.references.get(clientRefId));
  const transaction = id === undefined ? undefined : book.transactions.get(id);
  const isMeant = clientRefId === undefined || transaction?.clientRefId === clientRefId;
  return transaction !== undefined && isMeant ? transaction : null;
}

/** Puts the next step into the queue, if it waits for its time. */
function schedule(book: Book, transaction: Transaction): void {
  const dueMs = nextDueMs(transaction);
  const { createdAtMs, txnId } = transaction;
  if (dueMs !== null) book.due.push({ dueMs, createdAtMs, txnId });
}

/** The first of the queue. A step that was called off is left in it, and thrown away when its turn comes. */
function nextDue(book: Book): Due | undefined {
  for (;;) {
    const due = book.due.peek();
    if (due === undefined) return undefined;
    const transaction = book.transactions.get(due.txnId);
    invariant(transaction !== undefined, 'the queue holds steps of payouts that there are');
    if (nextDueMs(transaction) === due.dueMs) return due;
    invariant(transaction.timeline.at(-1)?.forced === true, 'only a forced step calls off what was planned');
    book.due.pop();
  }
}

export const nextDueOf = (book: Book): number | null => nextDue(book)?.dueMs ?? null;

/** Applies the steps due by the book's time, the oldest first, each stamped with its own due time. */
export function settleDue(book: Book, limit: number): Settled {
  let changes: Change[] | undefined;
  for (let applied = 0; applied < limit; applied += 1) {
    const due = nextDue(book);
    if (due === undefined || due.dueMs > book.nowMs) break;
    book.due.pop();
    (changes ??= []).push(apply(book, book.transactions.get(due.txnId)!, due.dueMs));
  }
  return { changes: changes ?? NO_CHANGES, nextDueMs: nextDueOf(book) };
}

/** Counts one status read, and applies the steps that waited for it. */
export function countRead(book: Book, found: Transaction): readonly Change[] {
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
export function seen(
  book: Book,
  transaction: Transaction,
  asOfMs: number | null,
): Pick<FindOutcome, 'transaction' | 'hiddenBy'> {
  if (isHidden(transaction, book.nowMs)) return { transaction: null, hiddenBy: transaction.hidden!.by };
  return { transaction: asOfMs === null ? transaction : asOf(transaction, asOfMs), hiddenBy: null };
}

/** The next step of a payout happens. */
export function apply(book: Book, transaction: Transaction, atMs: number): Change {
  const { txnId, clientRefId, transferMode, amountPaise, state: from, utrSerial } = transaction;
  let { utr } = transaction;
  if (utr === null && nextStep(transaction)?.utr) {
    utr = freeUtr(transferMode, atMs, utrSerial, book.utrs);
    book.utrs.add(utr);
  }
  const moved = afterStep(transaction, atMs, utr);
  book.transactions.set(txnId, moved);
  if (moved.state !== from) {
    count(book, from, -1, amountPaise);
    count(book, moved.state, 1, amountPaise);
    if (isMoneyBack(moved.state)) {
      book.wallet = refund(book.wallet, amountPaise);
      enter(book, 'refund', amountPaise, txnId, atMs);
    }
  }
  schedule(book, moved);
  return { txnId, clientRefId, from, to: moved.state, atMs, utr };
}

import type { State } from '../contract/payout.ts';
import { invariant } from '../payout/invariant.ts';
import { afterStep, isHidden, isMoneyBack, asOf, type Change, type Transaction } from '../payout/payout.ts';
import { freeUtr } from '../payout/utr.ts';
import { openWallet, refund, type EntryKind, type Wallet } from '../payout/wallet.ts';
import { DueQueue, type Due } from './due-queue.ts';
import { EntryPages } from './entry-pages.ts';
import type { BookRef, FindOutcome, Settled, Tally, TransactionKey } from './ledger.ts';
import { TextIndex } from './text-index.ts';
import { TransactionPages } from './transaction-pages.ts';

type MutableTally = { -readonly [K in keyof Tally]: Tally[K] };

/** All that the ledger in memory keeps of one world. Of a payout, nothing but the pages know more than its position. */
export interface Book {
  nowMs: number;
  readonly openingBalancePaise: number;
  wallet: Wallet;
  readonly entries: EntryPages;
  /** In the order in which they were made. */
  readonly transactions: TransactionPages;
  readonly ids: TextIndex;
  /** The latest payout of each reference. */
  readonly references: TextIndex;
  /** References that were refused for the balance, where the dialect remembers them. */
  readonly refused: Set<string>;
  readonly utrs: TextIndex;
  readonly due: DueQueue;
  /** What `look` saw of the payouts that are due. Nothing asks for it. */
  looked: number;
  /** Counted apart from the wallet, so that each proves the other. */
  readonly tallies: Readonly<Record<State, MutableTally>>;
}

const NO_CHANGES: readonly Change[] = [];

/** A book in which nothing stands, not even its opening. */
export function blankBook(openingBalancePaise: number, nowMs: number): Book {
  const transactions = new TransactionPages();
  const idAt = (position: number): string => transactions.idAt(position);
  return {
    nowMs,
    openingBalancePaise,
    wallet: openWallet(openingBalancePaise),
    entries: new EntryPages(idAt),
    transactions,
    ids: new TextIndex(idAt),
    references: new TextIndex((position) => transactions.referenceAt(position)),
    refused: new Set(),
    utrs: new TextIndex((position) => transactions.utrAt(position)),
    due: new DueQueue(idAt),
    looked: 0,
    tallies: {
      PENDING: { count: 0, paise: 0 },
      SUCCESS: { count: 0, paise: 0 },
      FAILED: { count: 0, paise: 0 },
      REVERSED: { count: 0, paise: 0 },
    },
  };
}

export function openBook({ openingBalancePaise, openedAtMs }: BookRef): Book {
  const book = blankBook(openingBalancePaise, openedAtMs);
  enter(book, 'opening', openingBalancePaise, null, openedAtMs);
  return book;
}

/** Transactions and remembered refusals. */
export const heldBy = (book: Book | undefined): number =>
  book === undefined ? 0 : book.transactions.length + book.refused.size;

/**
 * Writes down why the balance is what it now is.
 *
 * @param of the position of the payout that moved it; null for none
 */
export function enter(
  book: Book,
  kind: EntryKind,
  amountPaise: number,
  of: number | null,
  atMs: number,
): void {
  const { balancePaise } = book.wallet;
  invariant(book.entries.balancePaise + amountPaise === balancePaise, 'entries explain every paisa');
  book.entries.add(kind, of, amountPaise, balancePaise, atMs);
}

/** Takes a transaction in that is new to the book. */
export function take(book: Book, transaction: Transaction): void {
  const { txnId, clientRefId, state, amountPaise } = transaction;
  const position = book.transactions.add(transaction);
  book.ids.set(txnId, position);
  book.references.set(clientRefId, position);
  if (transaction.utr !== null) book.utrs.set(transaction.utr, position);
  count(book, state, 1, amountPaise);
  const dueMs = book.transactions.nextDueMsAt(position);
  if (dueMs !== null) book.due.push(dueMs, transaction.createdAtMs, txnId, position);
}

function count(book: Book, state: State, by: 1 | -1, amountPaise: number): void {
  const tally = book.tallies[state];
  tally.count += by;
  tally.paise += by * amountPaise;
}

/** Where the payout stands that a key names; undefined when there is none. */
export function positionOf({ ids, references, transactions }: Book, key: TransactionKey): number | undefined {
  const { txnId, clientRefId } = key;
  if (txnId === undefined) return clientRefId === undefined ? undefined : references.find(clientRefId);
  const position = ids.find(txnId);
  if (position === undefined || clientRefId === undefined) return position;
  return transactions.referenceAt(position) === clientRefId ? position : undefined;
}

/** The first of the queue. A step that was called off is left in it, and thrown away when its turn comes. */
function nextDue({ due, transactions }: Book): Due | undefined {
  for (;;) {
    const first = due.peek();
    if (first === undefined || transactions.nextDueMsAt(first.position) === first.dueMs) return first;
    invariant(
      transactions.timelineAt(first.position).at(-1)?.forced === true,
      'only a forced step calls off what was planned',
    );
    due.pop();
  }
}

export const nextDueOf = (book: Book): number | null => nextDue(book)?.dueMs ?? null;

/** Applies the steps due by the book's time, the oldest first, each stamped with its own due time. */
export function settleDue(book: Book, limit: number): Settled {
  let changes: Change[] | undefined;
  let due = nextDue(book);
  for (let applied = 0; applied < limit && due !== undefined && due.dueMs <= book.nowMs; applied += 1) {
    if (!book.due.isSetOut) book.looked = book.transactions.look(book.due.setOut(book.nowMs));
    book.due.pop();
    (changes ??= []).push(apply(book, due.position, due.dueMs));
    due = nextDue(book);
  }
  return { changes: changes ?? NO_CHANGES, nextDueMs: due?.dueMs ?? null };
}

/** Counts one status read, and applies the steps that waited for it. */
export function countRead(book: Book, position: number, readsBefore: number): readonly Change[] {
  const reads = readsBefore + 1;
  book.transactions.setReads(position, reads);
  const changes: Change[] = [];
  for (;;) {
    const polls = book.transactions.nextStepAt(position)?.polls ?? null;
    if (polls === null || polls > reads) return changes;
    changes.push(apply(book, position, book.nowMs));
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
export function apply(book: Book, position: number, atMs: number): Change {
  const { transactions } = book;
  const before = transactions.progressAt(position);
  const step = transactions.nextStepAt(position);
  let { utr } = before;
  if (utr === null && step?.utr === true) {
    const { transferMode, utrSerial } = transactions.utrPartsAt(position);
    const { utrs } = book;
    utr = freeUtr(transferMode, atMs, utrSerial, utrs.size, (free) => utrs.add(free, position));
  }
  const after = afterStep(before, step, atMs, utr);
  transactions.setProgress(position, after, atMs);
  const [from, to] = [before.state, after.state];
  if (to !== from) {
    const amountPaise = transactions.amountPaiseAt(position);
    count(book, from, -1, amountPaise);
    count(book, to, 1, amountPaise);
    if (isMoneyBack(to)) {
      book.wallet = refund(book.wallet, amountPaise);
      enter(book, 'refund', amountPaise, position, atMs);
    }
  }
  const txnId = transactions.idAt(position);
  const dueMs = transactions.nextDueMsAt(position);
  if (dueMs !== null) book.due.push(dueMs, transactions.createdAtMsAt(position), txnId, position);
  return { txnId, clientRefId: transactions.referenceAt(position), from, to, atMs, utr };
}

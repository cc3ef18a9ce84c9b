import { isMoneyBack, mayMove, type Transaction } from '../domain/transaction.ts';
import type { Entry } from '../domain/wallet.ts';
import type { State } from '../contract/payout.ts';
import { blankBook, take, type Book } from './book.ts';
import type { BookState } from './ledger.ts';

/** What must always hold of a book. Costs the same for every size: it holds sums that were counted apart against each other. */
export function brokenInvariants({ wallet, entries, transactions, tallies, order }: Book): readonly string[] {
  const { PENDING, SUCCESS, FAILED, REVERSED } = tallies;
  const checks: readonly (readonly [string, boolean])[] = [
    ['the balance is never below 0', wallet.balancePaise >= 0],
    [
      'balance + PENDING + SUCCESS = money put in',
      wallet.balancePaise + PENDING.paise + SUCCESS.paise === wallet.putInPaise,
    ],
    ['the newest entry shows the balance', entries.at(-1)!.balancePaise === wallet.balancePaise],
    [
      'every transaction is in one state',
      PENDING.count + SUCCESS.count + FAILED.count + REVERSED.count === transactions.size,
    ],
    ['every transaction was made once', order.length === transactions.size],
    [
      'one entry for each payout, one for each that gave its money back',
      entries.length >= transactions.size + FAILED.count + REVERSED.count + 1,
    ],
  ];
  return checks.filter(([, holds]) => !holds).map(([what]) => what);
}

const isWhole = (value: number): boolean => Number.isSafeInteger(value);

const isInOrder = (times: readonly (number | null)[]): boolean => {
  const known = times.filter((time) => time !== null);
  return known.every((time, index) => index === 0 || known[index - 1]! <= time);
};

/** Whether a payout is where its steps have led it, and can go on along those that are left. */
function isFollowed({ timeline, stepsDone, state, createdAtMs }: Transaction): boolean {
  const states: State[] = ['PENDING'];
  for (const { to } of timeline) {
    const from = states.at(-1)!;
    if (to !== null && !mayMove(from, to)) return false;
    states.push(to ?? from);
  }
  const [done, ahead] = [timeline.slice(0, stepsDone), timeline.slice(stepsDone)];
  return (
    states[stepsDone] === state &&
    done.every(({ dueMs }) => dueMs !== null) &&
    ahead.every(({ dueMs, polls }) => (dueMs === null) !== (polls === null)) &&
    isInOrder([createdAtMs, ...done.map(({ dueMs }) => dueMs)]) &&
    isInOrder([createdAtMs, ...ahead.map(({ dueMs }) => dueMs)])
  );
}

/** What is wrong with the entries of a state, taken one after the other. */
function entriesFault(entries: readonly Entry[], byId: ReadonlyMap<string, Transaction>): string | null {
  let balancePaise = 0;
  const moved = new Map<string, number>();
  for (const [index, entry] of entries.entries()) {
    const { kind, amountPaise, txnId } = entry;
    if ((kind === 'opening') !== (index === 0)) return 'a book begins with its opening, and has one';
    if (!isWhole(amountPaise)) return 'an entry is whole paise';
    balancePaise += amountPaise;
    if (entry.balancePaise !== balancePaise || balancePaise < 0)
      return 'the entries do not explain the balance';
    if ((txnId !== null) !== (kind === 'payout' || kind === 'refund'))
      return 'an entry names the wrong payout';
    if (txnId === null) continue;
    const transaction = byId.get(txnId);
    const sign = kind === 'payout' ? -1 : 1;
    if (transaction === undefined || amountPaise !== sign * transaction.amountPaise)
      return `the entries of ${txnId} do not fit it`;
    moved.set(txnId, (moved.get(txnId) ?? 0) + amountPaise);
  }
  for (const { txnId, state, amountPaise } of byId.values()) {
    const expected = isMoneyBack(state) ? 0 : -amountPaise;
    if (moved.get(txnId) !== expected)
      return `the money of ${txnId} went out or came back the wrong number of times`;
  }
  return null;
}

function transactionsFault(transactions: readonly Transaction[]): string | null {
  const ids = new Set<string>();
  const nths = new Map<string, number>();
  for (const transaction of transactions) {
    const { txnId, clientRefId, nth, amountPaise } = transaction;
    if (ids.has(txnId)) return `${txnId} is there twice`;
    ids.add(txnId);
    if (nth !== (nths.get(clientRefId) ?? 0) + 1)
      return `the payouts of ${clientRefId} are not counted without a gap`;
    nths.set(clientRefId, nth);
    if (!isWhole(amountPaise) || amountPaise <= 0) return `the amount of ${txnId} is no whole paise above 0`;
    if (!isFollowed(transaction)) return `the state of ${txnId} is not where its steps lead`;
  }
  return null;
}

/**
 * Makes a book of a state, after an audit of all of it.
 *
 * @returns the book, or the first thing that is wrong with the state
 */
export function bookOfState(state: BookState): Book | { readonly what: string } {
  const { transactions, entries, wallet } = state;
  const byId = new Map(transactions.map((transaction) => [transaction.txnId, transaction]));
  const fault = transactionsFault(transactions) ?? entriesFault(entries, byId);
  if (fault !== null) return { what: fault };
  const blank = blankBook(state.openingBalancePaise, state.nowMs);
  const book: Book = {
    ...blank,
    wallet: { ...wallet },
    entries: [...entries],
    refused: new Set(state.refused),
  };
  for (const transaction of transactions) take(book, transaction);
  if (entries[0]?.amountPaise !== state.openingBalancePaise)
    return { what: 'the opening balance is another' };
  const [broken] = brokenInvariants(book);
  const isPaidOut = wallet.paidOutPaise === book.tallies.PENDING.paise + book.tallies.SUCCESS.paise;
  if (broken !== undefined || !isPaidOut)
    return { what: `it does not hold that ${broken ?? 'the wallet fits'}` };
  return book;
}

import type { Transaction } from '../domain/transaction.ts';
import type { Entry } from '../domain/wallet.ts';
import { findTransaction, type Book } from './book.ts';
import type { Page, PageRequest, Settled, TransactionFilter } from './ledger.ts';

/** How many items a search looks at before it gives others their turn. */
const LOOKS = 20_000;

type Part<T> = Omit<Page<T>, keyof Settled>;

/** Goes through a list by position, and takes what a filter lets pass. */
function pageOf<T>(
  length: number,
  at: (position: number) => T,
  isWanted: (item: T) => boolean,
  { from, newestFirst, limit }: PageRequest,
): Part<T> {
  const items: T[] = [];
  const step = newestFirst ? -1 : 1;
  let position = from ?? (newestFirst ? length - 1 : 0);
  for (let looked = 0; position >= 0 && position < length; position += step, looked += 1) {
    if (items.length === limit || looked === LOOKS) return { items, next: position };
    const item = at(position);
    if (isWanted(item)) items.push(item);
  }
  return { items, next: null };
}

/** A part of the transactions of a book. */
export function transactionsPage(
  book: Book,
  { txnId, clientRefId, state }: TransactionFilter,
  page: PageRequest,
): Part<Transaction> {
  const isWanted = (transaction: Transaction): boolean =>
    (clientRefId === undefined || transaction.clientRefId === clientRefId) &&
    (state === undefined || transaction.state === state);
  if (txnId !== undefined || clientRefId !== undefined) {
    const latest = findTransaction(book, { txnId, clientRefId });
    if (latest === null) return { items: [], next: null };
    // a reference has more than one payout only in a dialect that pays twice
    if (txnId !== undefined || latest.nth === 1) return { items: [latest].filter(isWanted), next: null };
  }
  return pageOf(
    book.order.length,
    (position) => book.transactions.get(book.order[position]!)!,
    isWanted,
    page,
  );
}

/** A part of the entries of a book. */
export const entriesPage = (book: Book, txnId: string | null, page: PageRequest): Part<Entry> =>
  pageOf(
    book.entries.length,
    (position) => book.entries[position]!,
    (entry) => txnId === null || entry.txnId === txnId,
    page,
  );

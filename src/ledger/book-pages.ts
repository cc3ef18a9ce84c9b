import type { Transaction } from '../payout/payout.ts';
import type { Entry } from '../payout/wallet.ts';
import { positionOf, type Book } from './book.ts';
import type { Page, PageRequest, Settled, TransactionFilter } from './ledger.ts';

/** How many items a search looks at before it gives others their turn. */
const LOOKS = 20_000;

type Part<T> = Omit<Page<T>, keyof Settled>;

/** A list of which an item is made when it is asked for. */
interface List<T> {
  readonly length: number;
  at(position: number): T;
}

/** Goes through a list by position, and takes what a filter lets pass. */
function pageOf<T>(
  list: List<T>,
  isWanted: (position: number) => boolean,
  { from, newestFirst, limit }: PageRequest,
): Part<T> {
  const items: T[] = [];
  const step = newestFirst ? -1 : 1;
  let position = from ?? (newestFirst ? list.length - 1 : 0);
  for (let looked = 0; position >= 0 && position < list.length; position += step, looked += 1) {
    if (items.length === limit || looked === LOOKS) return { items, next: position };
    if (isWanted(position)) items.push(list.at(position));
  }
  return { items, next: null };
}

/** A part of the transactions of a book. */
export function transactionsPage(
  book: Book,
  { txnId, clientRefId, state }: TransactionFilter,
  page: PageRequest,
): Part<Transaction> {
  const { transactions } = book;
  const isWanted = (position: number): boolean =>
    (state === undefined || transactions.stateAt(position) === state) &&
    (clientRefId === undefined || transactions.referenceAt(position) === clientRefId);
  if (txnId !== undefined || clientRefId !== undefined) {
    const latest = positionOf(book, { txnId, clientRefId });
    if (latest === undefined) return { items: [], next: null };
    const transaction = transactions.at(latest);
    // a reference has more than one payout only in a dialect that pays twice
    if (txnId !== undefined || transaction.nth === 1) {
      return { items: isWanted(latest) ? [transaction] : [], next: null };
    }
  }
  return pageOf(transactions, isWanted, page);
}

/** A part of the entries of a book. */
export function entriesPage({ entries, ids }: Book, txnId: string | null, page: PageRequest): Part<Entry> {
  if (txnId === null) return pageOf(entries, () => true, page);
  const of = ids.find(txnId);
  if (of === undefined) return { items: [], next: null };
  return pageOf(entries, (row) => entries.isOf(row, of), page);
}

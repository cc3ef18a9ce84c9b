import type { Entry, Payout } from '../contract/snapshot.ts';
import type { z } from 'zod';
import type { EntriesQuery, TransactionsQuery } from '../contract/control.ts';
import { isAtRisk, isOutOfDate } from '../payout/payout.ts';
import { findPayout } from './ledger.ts';
import type { WorldState } from './state-shape.ts';

/** Which part of a list. `cursor` is where the previous page ended; absent for the first page. */
type PageQuery = Pick<z.output<typeof EntriesQuery>, 'order' | 'limit' | 'cursor'>;

/** A part of a list. A search scans a limited number of items: a page may be short and not be the last. */
interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null when this was the last. */
  readonly next: number | null;
}

/** How many items a search scans before it answers: about a millisecond. */
const MAX_SCANNED = 20_000;

function pageOf<T>(list: readonly T[], isWanted: (item: T) => boolean, { order, limit, cursor }: PageQuery) {
  const items: T[] = [];
  const step = order === 'newest' ? -1 : 1;
  let position = cursor ?? (order === 'newest' ? list.length - 1 : 0);
  for (let scanned = 0; position >= 0 && position < list.length; position += step, scanned += 1) {
    if (items.length === limit || scanned === MAX_SCANNED) return { items, next: position };
    const item = list[position]!;
    if (isWanted(item)) items.push(item);
  }
  return { items, next: null };
}

export function payoutsPage(world: WorldState, query: z.output<typeof TransactionsQuery>): Page<Payout> {
  const { status, client_ref_id: clientRefId, at_risk: atRisk, out_of_date: outOfDate } = query;
  const isWanted = (payout: Payout): boolean =>
    (status === undefined || payout.state === status) &&
    (atRisk === undefined || isAtRisk(payout) === atRisk) &&
    (outOfDate === undefined || isOutOfDate(payout) === outOfDate) &&
    (clientRefId === undefined || payout.clientRefId === clientRefId);
  if (clientRefId !== undefined) {
    const latest = findPayout(world, { clientRefId });
    // a reference has more than one payout only in a dialect that pays twice
    if (latest === undefined || latest.nth === 1) {
      return { items: latest !== undefined && isWanted(latest) ? [latest] : [], next: null };
    }
  }
  return pageOf(world.payouts, isWanted, query);
}

/** A part of the entries, in the order in which they were made. */
export function entriesPage(world: WorldState, query: z.output<typeof EntriesQuery>): Page<Entry> {
  const { txn_id: txnId } = query;
  if (txnId !== undefined && !world.index.byTxnId.has(txnId)) return { items: [], next: null };
  return pageOf(world.entries, (entry) => txnId === undefined || entry.txnId === txnId, query);
}

import type { State } from '../contract/service.ts';
import type { Payout } from '../payout/payout.ts';
import type { Entry } from '../payout/wallet.ts';
import { positionOf } from './ledger.ts';
import type { WorldState } from './state.ts';

/** Which part of a list: `limit` of it from a position on, forwards (oldest first) or backwards. */
export interface PageRequest {
  /** The position that the page before ended at; null for the first page. */
  readonly from: number | null;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/** A part of a list. A search looks at so many items at once: a page may be short and yet not the last. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Where the next page begins; null when this was the last. */
  readonly next: number | null;
}

export interface PayoutFilter {
  readonly state?: State | undefined;
  readonly clientRefId?: string | undefined;
}

/** How many items a search looks at before it answers: about a millisecond. */
const LOOKS = 20_000;

function pageOf<T>(
  list: readonly T[],
  isWanted: (item: T) => boolean,
  { from, newestFirst, limit }: PageRequest,
): Page<T> {
  const items: T[] = [];
  const step = newestFirst ? -1 : 1;
  let position = from ?? (newestFirst ? list.length - 1 : 0);
  for (let looked = 0; position >= 0 && position < list.length; position += step, looked += 1) {
    if (items.length === limit || looked === LOOKS) return { items, next: position };
    const item = list[position]!;
    if (isWanted(item)) items.push(item);
  }
  return { items, next: null };
}

/** A part of the payouts, in the order in which they were made. */
export function payoutsPage(
  world: WorldState,
  { state, clientRefId }: PayoutFilter,
  page: PageRequest,
): Page<Payout> {
  const isWanted = (payout: Payout): boolean =>
    (state === undefined || payout.state === state) &&
    (clientRefId === undefined || payout.clientRefId === clientRefId);
  if (clientRefId !== undefined) {
    const latest = world.payouts[positionOf(world, { clientRefId }) ?? -1];
    // a reference has more than one payout only in a dialect that pays twice
    if (latest === undefined || latest.nth === 1) {
      return { items: latest !== undefined && isWanted(latest) ? [latest] : [], next: null };
    }
  }
  return pageOf(world.payouts, isWanted, page);
}

/** A part of the entries, in the order in which they were made. @param txnId only those of this payout; null for all */
export function entriesPage(world: WorldState, txnId: string | null, page: PageRequest): Page<Entry> {
  if (txnId !== null && !world.index.byTxnId.has(txnId)) return { items: [], next: null };
  return pageOf(world.entries, (entry) => txnId === null || entry.txnId === txnId, page);
}

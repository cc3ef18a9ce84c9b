import type { z } from 'zod';
import type { EntriesQuery, TransactionsQuery } from '../contract/control.ts';
import { Refusal } from '../contract/errors.ts';
import { LATEST_MS } from '../payout/settlement.ts';
import {
  oneMore,
  type Payout,
  afterStep,
  isAtRisk,
  isMoneyBack,
  isOutOfDate,
  nextDueMs,
  nextStep,
} from '../payout/payout.ts';
import { type Entry, invariant, payOut, refund } from '../payout/money.ts';
import { freeUtr } from '../payout/identity.ts';
import type { StateEvent } from './events.ts';
import { indexPayout, nowMs, replacePayout, scheduleStep, type Due, type WorldState } from './state.ts';

/** Names a payout: by the service's identifier, the client's own, or both, which must then name the same one. */
export interface PayoutKey {
  readonly txnId?: string | undefined;
  readonly clientRefId?: string | undefined;
}

/** The position of the payout that a key names; undefined when there is none. For a reference, that of the latest. */
export function positionOf(
  { index, payouts }: WorldState,
  { txnId, clientRefId }: PayoutKey,
): number | undefined {
  if (txnId === undefined) return clientRefId === undefined ? undefined : index.byReference.get(clientRefId);
  const position = index.byTxnId.get(txnId);
  if (position === undefined || clientRefId === undefined) return position;
  return payouts[position]!.clientRefId === clientRefId ? position : undefined;
}

export function findPayout(state: WorldState, key: PayoutKey): Payout | undefined {
  const position = positionOf(state, key);
  return position === undefined ? undefined : state.payouts[position];
}

export const unknownTxnId = (txnId: string): Refusal =>
  new Refusal('TRANSACTION_NOT_FOUND', { message: `This world has no transaction ${txnId}` });

/** Records why the balance is what it now is. @param amountPaise signed: below 0 when it left the balance */
export function recordEntry(
  { entries, wallet: { balancePaise } }: WorldState,
  kind: Entry['kind'],
  amountPaise: number,
  txnId: string | null,
  atMs: number,
): Entry {
  invariant(entries.at(-1)!.balancePaise + amountPaise === balancePaise, 'entries explain every paisa');
  const entry = { kind, amountPaise, balancePaise, txnId, atMs };
  entries.push(entry);
  return entry;
}

export function addPayout(state: WorldState, payout: Payout): void {
  const { txnId, clientRefId, amountPaise, createdAtMs, nth } = payout;
  const earlier = findPayout(state, { clientRefId });
  invariant(!state.index.byTxnId.has(txnId), 'one txn_id, one payout');
  invariant(nth === (earlier?.nth ?? 0) + 1, 'the payouts of a reference are numbered without a gap');
  state.wallet = payOut(state.wallet, amountPaise);
  recordEntry(state, 'payout', -amountPaise, txnId, createdAtMs);
  const position = state.payouts.push(payout) - 1;
  indexPayout(state, payout, position);
}

/** The first step of the queue. One that a forced transition or an undo has cancelled is dropped when its turn comes. */
function firstDue({ index: { due }, payouts }: WorldState): Due | undefined {
  for (;;) {
    const first = due.peek();
    if (first === undefined) return undefined;
    const payout = payouts[first.position];
    if (payout?.txnId === first.txnId && nextDueMs(payout) === first.dueMs) return first;
    due.pop();
  }
}

/** World time of the next step that waits for its time; null when there is none that the clock can reach. */
export function nextDueMsOf(state: WorldState): number | null {
  const dueMs = firstDue(state)?.dueMs ?? Infinity;
  return dueMs > LATEST_MS ? null : dueMs;
}

export function isMoreDue(state: WorldState): boolean {
  const dueMs = nextDueMsOf(state);
  return dueMs !== null && dueMs <= nowMs(state);
}

/** Applies the steps due by the world's time, oldest first, each stamped with its own due time. @returns how many */
export function settleDue(state: WorldState, limit: number, events: StateEvent[]): number {
  const untilMs = nowMs(state);
  for (let steps = 0; steps < limit; steps += 1) {
    const due = firstDue(state);
    if (due === undefined || due.dueMs > untilMs) return steps;
    state.index.due.pop();
    takeStep(state, due.position, due.dueMs, events);
  }
  return limit;
}

/** Counts one status read, and applies the steps that waited for it. */
export function countRead(state: WorldState, position: number, events: StateEvent[]): void {
  const payout = state.payouts[position]!;
  const reads = oneMore(payout.reads);
  replacePayout(state, position, { ...payout, reads });
  while ((nextStep(state.payouts[position]!)?.polls ?? Infinity) <= reads) {
    takeStep(state, position, nowMs(state), events);
  }
}

/** Applies the next step of a payout: its state changes, and money that is due back is credited. */
export function takeStep(state: WorldState, position: number, atMs: number, events: StateEvent[]): void {
  const { index, payouts } = state;
  const before = payouts[position]!;
  let { utr } = before;
  if (utr === null && nextStep(before)?.utr === true) {
    utr = freeUtr(before.transferMode, atMs, before.utrSerial, index.utrs, index.nextSerials);
    index.utrs.add(utr);
  }
  const after = afterStep(before, atMs, utr);
  replacePayout(state, position, after);
  if (after.state !== before.state && isMoneyBack(after.state)) {
    state.wallet = refund(state.wallet, after.amountPaise);
    recordEntry(state, 'refund', after.amountPaise, after.txnId, atMs);
  }
  scheduleStep(index, after, position);
  const { txnId, clientRefId } = after;
  const change = { txnId, clientRefId, from: before.state, to: after.state, atMs, utr };
  events.push({ type: 'settlement', change, payout: after });
}

/** The invariants that are broken; none in a correct world. It compares sums that were kept separately, so its cost does not depend on the size of the world. */
export function brokenInvariants({ wallet, entries, payouts, index }: WorldState): readonly string[] {
  const { PENDING, SUCCESS, FAILED, REVERSED } = index.tallies;
  const count = PENDING.count + SUCCESS.count + FAILED.count + REVERSED.count;
  const checks: readonly (readonly [string, boolean])[] = [
    ['the balance is never below 0', wallet.balancePaise >= 0],
    [
      'balance + PENDING + SUCCESS = money put in',
      wallet.balancePaise + PENDING.paise + SUCCESS.paise === wallet.putInPaise,
    ],
    ['money out is in PENDING and SUCCESS', wallet.paidOutPaise === PENDING.paise + SUCCESS.paise],
    ['the newest entry shows the balance', entries.at(-1)?.balancePaise === wallet.balancePaise],
    ['every payout is in one state', count === payouts.length],
    ['every payout was made once', index.byTxnId.size === payouts.length],
    [
      'one entry for each payout, one for each whose money was returned',
      entries.length >= payouts.length + FAILED.count + REVERSED.count + 1,
    ],
  ];
  return checks.filter(([, holds]) => !holds).map(([what]) => what);
}

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

function pageOf<T>(
  list: readonly T[],
  isWanted: (item: T) => boolean,
  { order, limit, cursor }: PageQuery,
): Page<T> {
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

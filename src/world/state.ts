import { LATEST_MS } from '../contract/service.ts';
import type { ClockStart, ClockState, Payout } from '../contract/snapshot.ts';
import TinyQueue from 'tinyqueue';
import { isAtRisk, isOutOfDate, nextDueMs } from '../payout/payout.ts';
import type { Scenario } from '../scenario/scenario.ts';
import type { Due, StateIndex, UndoPoint, WorldState } from './state-shape.ts';

/** What follows from a state: its time, its lookup tables, and what it holds. */

/** The order in which steps happen: by due time, then creation, then id, so that the order of arrival does not matter. */
const byDueTime = (a: Due, b: Due): number =>
  a.dueMs - b.dueMs || a.createdAtMs - b.createdAtMs || (a.txnId < b.txnId ? -1 : 1);

/** The lookup tables of a world without payouts. */
export const openIndex = (base: Scenario): StateIndex => ({
  byTxnId: new Map(),
  byReference: new Map(),
  stored: new Map(),
  utrs: new Set(),
  nextSerials: new Map(),
  due: new TinyQueue<Due>([], byDueTime),
  tallies: { PENDING: none(), SUCCESS: none(), FAILED: none(), REVERSED: none() },
  atRisk: none(),
  outOfDate: none(),
  beingTold: new Set(),
  base,
  overrides: [],
  active: base,
});

const none = () => ({ count: 0, paise: 0 });

/** World time at a wall time, ms since the epoch. A running clock stops at the last time that a timestamp can show. */
export const worldTimeMs = ({ atMs, setMs, speed }: ClockState, wallMs: number): number =>
  Math.min(atMs + Math.floor(Math.max(0, wallMs - setMs) * speed), LATEST_MS);

/** The wall time at which a running world reaches `worldMs`; null when it is frozen, or never gets there. */
export const wallTimeMs = ({ atMs, setMs, speed }: ClockState, worldMs: number): number | null =>
  speed > 0 && worldMs <= LATEST_MS ? setMs + Math.ceil((worldMs - atMs) / speed) : null;

/** A clock that has this world time at this wall time, which means nothing to a frozen one. */
export const clockFrom = (atMs: number, wallMs: number, speed: number): ClockState => ({
  atMs,
  setMs: speed === 0 ? 0 : wallMs,
  speed,
});

export const startedClock = ({ atMs, speed }: ClockStart, wallMs: number): ClockState =>
  clockFrom(atMs ?? wallMs, wallMs, speed);

/** World time, as of the latest command. */
export const nowMs = ({ clock, wallMs }: Pick<WorldState, 'clock' | 'wallMs'>): number =>
  worldTimeMs(clock, wallMs);

/** What a world holds at a moment: how many payouts are in each state, at risk and out of date, and their sums, in this order. */
export function sumsOf(state: Readonly<WorldState>) {
  const { tallies, atRisk, outOfDate } = state.index;
  const all = [tallies.PENDING, tallies.SUCCESS, tallies.FAILED, tallies.REVERSED, atRisk, outOfDate];
  return {
    nowMs: nowMs(state),
    balancePaise: state.wallet.balancePaise,
    counts: all.map(({ count }) => count),
    paise: all.map(({ paise }) => paise),
  };
}
export type Sums = ReturnType<typeof sumsOf>;

/** What counts against SANDBOX_MAX_TRANSACTIONS: payouts, each with the entry that debits it, responses that are kept, late commits, credits and debits. */
export const transactionsHeld = ({ stored, late, entries, index }: WorldState): number => {
  const { FAILED, REVERSED } = index.tallies;
  const openingAndRefunds = 1 + FAILED.count + REVERSED.count;
  return stored.length + late.length + entries.length - openingAndRefunds;
};

/** What counts against SANDBOX_MAX_RULES: its overrides, and its scenario if it chose one; otherwise it shares the server's. */
export const rulesHeld = (
  { isChosen }: WorldState['scenario'],
  { base, overrides }: Pick<StateIndex, 'base' | 'overrides'>,
): number => overrides.length + (isChosen ? base.size : 0);

/** How many requests and payouts are kept for an undo, beside those of the world itself. */
export const undoHeld = ({ undoPoints }: WorldState): number =>
  undoPoints.reduce(
    (sum, { fields, lengths, formerPayouts, hasOtherJournal }) =>
      sum + formerPayouts.size + (hasOtherJournal ? lengths.payouts + fields.requests.list.length : 0),
    0,
  );

/** Puts a payout into the index. @param position where it is in `payouts` */
export function indexPayout({ index }: WorldState, payout: Payout, position: number): void {
  index.byTxnId.set(payout.txnId, position);
  index.byReference.set(payout.clientRefId, position);
  if (payout.utr !== null) index.utrs.add(payout.utr);
  tally(index, payout, position, 1);
  scheduleStep(index, payout, position);
}

export function tally(index: StateIndex, payout: Payout, position: number, by: 1 | -1): void {
  addTo(index.tallies[payout.state], payout, by);
  if (isAtRisk(payout) && !index.beingTold.has(position)) addTo(index.atRisk, payout, by);
  if (isOutOfDate(payout)) addTo(index.outOfDate, payout, by);
}

function addTo(sum: { count: number; paise: number }, { amountPaise }: Payout, by: 1 | -1): void {
  sum.count += by;
  sum.paise += by * amountPaise;
}

/**
 * Records whether the response that tells of a new payout is being sent. Until that ends, the payout is not at risk. Not for servers
 * that share a store: one may die before it says how a request ended.
 */
export function setTelling({ index, payouts }: WorldState, position: number, isBeingTold: boolean): void {
  const payout = payouts[position]!;
  if (isAtRisk(payout)) addTo(index.atRisk, payout, isBeingTold ? -1 : 1);
  if (isBeingTold) index.beingTold.add(position);
  else index.beingTold.delete(position);
}

/** The latest point, if a list that is about to change is the one that it knew. */
export function latestPoint({ undoPoints }: WorldState, isKnown: (fields: UndoPoint['fields']) => boolean) {
  const point = undoPoints.at(-1);
  return point !== undefined && isKnown(point.fields) ? point : null;
}

/** Replaces a payout by one that has changed. */
export function replacePayout(state: WorldState, position: number, payout: Payout): void {
  const before = state.payouts[position]!;
  const point = latestPoint(state, ({ payouts }) => payouts === state.payouts);
  if (point !== null && position < point.lengths.payouts && !point.formerPayouts.has(position))
    point.formerPayouts.set(position, before);
  tally(state.index, before, position, -1);
  tally(state.index, payout, position, 1);
  state.payouts[position] = payout;
}

/** Puts the next step of a payout into the queue, if it waits for its time. */
export function scheduleStep({ due }: StateIndex, payout: Payout, position: number): void {
  const dueMs = nextDueMs(payout);
  const { createdAtMs, txnId } = payout;
  if (dueMs !== null) due.push({ dueMs, createdAtMs, txnId, position });
}

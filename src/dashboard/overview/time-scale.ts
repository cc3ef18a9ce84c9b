import type { TransactionResponse } from '../../contract/control-responses.ts';

/** The geometry of the time ribbon: world time from left to right, with idle gaps compressed. Pure functions. */

/** Moments, and their places from 0 to the width, both ascending. */
export interface TimeScale {
  readonly atMs: Float64Array;
  readonly x: Float64Array;
  readonly width: number;
}

/** The longest gap that is drawn in full compared to the whole of what is not idle. */
const MOST_GROWTH = 0.15;
const LEAST_MS = 1000;

/** Weighs a gap: one that is long compared to the others is compressed more and more. */
const weight = (ms: number, usualMs: number): number =>
  ms <= usualMs ? ms : usualMs * (1 + Math.log2(ms / usualMs) * MOST_GROWTH);

/** A scale on which these moments lie; the first at 0, the last at its width. */
export function timeScale(momentsMs: readonly number[], width: number): TimeScale {
  const atMs = Float64Array.from(new Set(momentsMs)).toSorted();
  const gaps = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
  const usualMs = Math.max(LEAST_MS, gaps.toSorted()[Math.floor(gaps.length * 0.75)] ?? LEAST_MS);
  const weights = gaps.map((ms) => weight(ms, usualMs));
  const sum = weights.reduce((total, one) => total + one, 0) || 1;
  const x = new Float64Array(atMs.length);
  for (const [index, one] of weights.entries()) x[index + 1] = x[index]! + (one / sum) * width;
  return { atMs, x, width };
}

/** What a value of one scale is on the other, in proportion between its neighbours. */
function translated(value: number, from: Float64Array, to: Float64Array): number {
  let [low, high] = [1, from.length - 1];
  if (high < low) return to[0] ?? 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (from[middle]! >= value) high = middle;
    else low = middle + 1;
  }
  const [before, after] = [from[low - 1]!, from[low]!];
  const share = after === before ? 1 : Math.min(1, Math.max(0, (value - before) / (after - before)));
  return to[low - 1]! + share * (to[low]! - to[low - 1]!);
}

/** Where a moment lies. */
export const xOf = ({ atMs, x }: TimeScale, momentMs: number): number => translated(momentMs, atMs, x);

/** The moment at a place. */
export const msAt = ({ atMs, x }: TimeScale, place: number): number => translated(place, x, atMs);

export const LANES = ['made', 'settled', 'back'] as const;
export type Lane = (typeof LANES)[number];

export interface Tick {
  readonly atMs: number;
  readonly lane: Lane;
  readonly isAhead: boolean;
  readonly isRisk: boolean;
}

function ticksOfOne(payout: TransactionResponse): readonly Tick[] {
  const { created_at: createdAt, at_risk: isRisk, timeline } = payout;
  const ticks: Tick[] = [{ atMs: Date.parse(createdAt), lane: 'made', isAhead: false, isRisk }];
  for (const { to, at, done } of timeline) {
    if (at === null || to === null || to === 'PENDING') continue;
    const lane = to === 'SUCCESS' ? 'settled' : 'back';
    ticks.push({ atMs: Date.parse(at), lane, isAhead: !done, isRisk: false });
  }
  return ticks;
}

/** What happened to payouts, and what is scheduled. */
export const ticksOf = (payouts: readonly TransactionResponse[]): readonly Tick[] =>
  payouts.flatMap(ticksOfOne);

/** Ticks at the same place, drawn as one. */
export interface Bar extends Omit<Tick, 'atMs'> {
  readonly x: number;
  readonly count: number;
}

const COLUMN = 4;

/** Ticks as bars in columns of a few pixels. Those at risk are never hidden by others. */
export function barsOf(ticks: readonly Tick[], scale: TimeScale): readonly Bar[] {
  const bars = new Map<number, Bar & { count: number }>();
  for (const { atMs, lane, isAhead, isRisk } of ticks) {
    const column = Math.round(xOf(scale, atMs) / COLUMN);
    const key = ((column * LANES.length + LANES.indexOf(lane)) * 2 + Number(isAhead)) * 2 + Number(isRisk);
    const bar = bars.get(key);
    if (bar === undefined) bars.set(key, { x: column * COLUMN, lane, isAhead, isRisk, count: 1 });
    else bar.count += 1;
  }
  return [...bars.values()].toSorted((a, b) => Number(a.isRisk) - Number(b.isRisk));
}

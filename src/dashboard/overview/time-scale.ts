import type { TransactionResponse } from '../../contract/control-responses.ts';

/** The geometry of the time ribbon: world time from left to right, with idle gaps compressed. Pure functions. */

/** A part of the ribbon with something in it, or the gap between two. */
interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly x: number;
  readonly width: number;
}

export interface TimeScale {
  readonly stretches: readonly Stretch[];
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
  const sorted = [...new Set(momentsMs)].toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((ms, index) => ms - sorted[index]!);
  const busy = gaps.toSorted((a, b) => a - b);
  const usualMs = Math.max(LEAST_MS, busy[Math.floor(busy.length * 0.75)] ?? LEAST_MS);
  const weights = gaps.map((ms) => weight(ms, usualMs));
  const sum = weights.reduce((total, one) => total + one, 0) || 1;
  let x = 0;
  const stretches = weights.map((one, index) => {
    const stretch = { fromMs: sorted[index]!, toMs: sorted[index + 1]!, x, width: (one / sum) * width };
    x += stretch.width;
    return stretch;
  });
  return { stretches, width };
}

/** The stretch that a predicate finds first; the last one if none does. */
function stretchWhere({ stretches }: TimeScale, isPast: (stretch: Stretch) => boolean): Stretch | undefined {
  let [low, high] = [0, stretches.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isPast(stretches[middle]!)) high = middle;
    else low = middle + 1;
  }
  return stretches[low];
}

/** Where a moment lies. */
export function xOf(scale: TimeScale, atMs: number): number {
  const stretch = stretchWhere(scale, ({ toMs }) => toMs >= atMs);
  if (stretch === undefined) return 0;
  const share = (atMs - stretch.fromMs) / (stretch.toMs - stretch.fromMs);
  return stretch.x + stretch.width * Math.min(1, Math.max(0, share));
}

/** The moment at a place. */
export function msAt(scale: TimeScale, x: number): number {
  const stretch = stretchWhere(scale, (one) => one.x + one.width >= x);
  if (stretch === undefined) return 0;
  const share = stretch.width === 0 ? 1 : Math.min(1, Math.max(0, (x - stretch.x) / stretch.width));
  return stretch.fromMs + share * (stretch.toMs - stretch.fromMs);
}

export const LANES = ['made', 'settled', 'back'] as const;
export type Lane = (typeof LANES)[number];

/** Something on the ribbon. */
export interface Tick {
  readonly atMs: number;
  readonly lane: Lane;
  readonly isAhead: boolean;
  readonly isRisk: boolean;
}

/** What happened to payouts, and what is scheduled. */
export function ticksOf(payouts: readonly TransactionResponse[]): readonly Tick[] {
  const ticks: Tick[] = [];
  for (const { created_at: createdAt, at_risk: isRisk, timeline } of payouts) {
    ticks.push({ atMs: Date.parse(createdAt), lane: 'made', isAhead: false, isRisk });
    for (const { to, at, done } of timeline) {
      if (at === null || to === null || to === 'PENDING') continue;
      ticks.push({
        atMs: Date.parse(at),
        lane: to === 'SUCCESS' ? 'settled' : 'back',
        isAhead: !done,
        isRisk: false,
      });
    }
  }
  return ticks;
}

/** Ticks at the same place, drawn as one. */
export interface Bar {
  readonly x: number;
  readonly lane: Lane;
  readonly isAhead: boolean;
  readonly isRisk: boolean;
  readonly count: number;
}

const COLUMN = 4;

/** Ticks as bars in columns of a few pixels. Those at risk are never hidden by others. */
export function barsOf(ticks: readonly Tick[], scale: TimeScale): readonly Bar[] {
  const bars = new Map<string, { x: number; lane: Lane; isAhead: boolean; isRisk: boolean; count: number }>();
  for (const { atMs, lane, isAhead, isRisk } of ticks) {
    const column = Math.round(xOf(scale, atMs) / COLUMN);
    const key = `${column} ${lane} ${isAhead} ${isRisk}`;
    const bar = bars.get(key);
    if (bar === undefined) bars.set(key, { x: column * COLUMN, lane, isAhead, isRisk, count: 1 });
    else bar.count += 1;
  }
  return [...bars.values()].toSorted((a, b) => Number(a.isRisk) - Number(b.isRisk));
}

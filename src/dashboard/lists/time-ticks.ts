import { istDayNumber, istShortDay, istTime } from './formats.ts';

interface TimeTick {
  /** The index of the change that happened then. */
  readonly index: number;
  readonly time: string;
  /** The date, at the first tick and where it changes. */
  readonly day: string | null;
}

/** How many characters of `10:00:05` a label has. */
const MINUTES = 5;
const SECONDS = 8;

/** The indices that get a label: at least this far apart, and the first of each day wherever there is room. */
function labelled(days: readonly number[], distance: number, most: number): readonly number[] {
  const found: number[] = [];
  for (let index = 0; index <= most; index += 1) {
    const isNewDay = index === 0 || days[index] !== days[index - 1];
    const before = found.at(-1);
    const isFar = before === undefined || index - before >= distance;
    if (!isFar && !isNewDay) continue;
    if (!isFar) {
      const isBeforeNewDay = before === 0 || days[before] !== days[before - 1];
      if (isBeforeNewDay) continue;
      found.pop();
    }
    found.push(index);
  }
  return found;
}

/**
 * The times below a chart in which each change has the same width: no label twice, and none that overlaps another.
 *
 * @param atMs when each change happened
 * @param distance how many changes two labels are apart at least
 * @param last the last change that can have a label; those after it are too close to the end, which says "now"
 */
export function timeTicks(atMs: readonly number[], distance: number, last: number): readonly TimeTick[] {
  const days = atMs.map(istDayNumber);
  const indices = labelled(days, distance, Math.max(0, last));
  const moments = new Set(indices.map((index) => atMs[index]));
  const isExact = (length: number): boolean =>
    new Set(indices.map((index) => `${days[index]} ${istTime(atMs[index]!).slice(0, length)}`)).size ===
    moments.size;
  const length = isExact(MINUTES) ? MINUTES : SECONDS;
  const ticks: TimeTick[] = [];
  let shown = { time: '', day: '' };
  for (const index of indices) {
    const time = istTime(atMs[index]!).slice(0, length);
    const day = istShortDay(atMs[index]!);
    if (time === shown.time && day === shown.day) continue;
    ticks.push({ index, time, day: day === shown.day ? null : day });
    shown = { time, day };
  }
  return ticks;
}

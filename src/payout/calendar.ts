import { IST_OFFSET_MS, WEEKDAYS } from '../contract/times.ts';
import { Calendar } from '../contract/scenario-document.ts';

/** The days on which banks in India work. Days are counted from 1970-01-01, in IST. */

/** Sundays, the second and fourth Saturdays (RBI, since September 2015) and the national holidays. States have more. */
export const BANK_CALENDAR = Calendar.parse({});

/** Republic Day, Independence Day and Gandhi Jayanti, in every year and state. */
const NATIONAL_HOLIDAYS: ReadonlySet<string> = new Set(['01-26', '08-15', '10-02']);

const DAY_MS = 86_400_000;

export const istDay = (atMs: number): number => Math.floor((atMs + IST_OFFSET_MS) / DAY_MS);

export const weekdayOf = (day: number): (typeof WEEKDAYS)[number] => WEEKDAYS[(day + 4) % 7]!; // 1970-01-01 was a Thursday

export function isWorkingDay(day: number, { saturdays, holidays }: Calendar): boolean {
  const date = new Date(day * DAY_MS);
  const weekday = weekdayOf(day);
  if (weekday === 'sun') return false;
  if (weekday === 'sat' && saturdays.includes(Math.ceil(date.getUTCDate() / 7))) return false;
  const text = date.toISOString().slice(0, 10);
  return !NATIONAL_HOLIDAYS.has(text.slice(5)) && !holidays.includes(text);
}

/** A minute of the day in IST, of any day or of working days. */
export interface TimeOfDay {
  readonly atMinute: number;
  readonly onNextWorkingDay?: boolean | undefined;
}

/** The first time after `fromMs` at which a clock in IST shows this minute; with `onNextWorkingDay`, that of the first working day after its day. */
export function nextTime(
  fromMs: number,
  { atMinute, onNextWorkingDay = false }: TimeOfDay,
  calendar: Calendar,
): number {
  let day = istDay(fromMs);
  const timeOf = (): number => day * DAY_MS - IST_OFFSET_MS + atMinute * 60_000;
  if (onNextWorkingDay || timeOf() <= fromMs) day += 1;
  if (onNextWorkingDay) while (!isWorkingDay(day, calendar)) day += 1;
  return timeOf();
}

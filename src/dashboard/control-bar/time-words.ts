import type { AdvanceRequest } from '../../contract/control.ts';

/** Reads how far to advance a clock, as a person writes it: `02:00 tomorrow`, `1 Dec 9:30 UTC`, `2h 30m`, `next step`. */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const IST_MS = 5.5 * HOUR_MS;
/** A longer advance is asked for twice: it settles everything that is scheduled. */
export const FAR_MS = 400 * DAY_MS;
const LATEST_MS = Date.UTC(10_000, 0) - 1;

const UNITS: readonly (readonly [RegExp, number])[] = [
  [/^(?:ms|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:m|mins?|minutes?)$/, MINUTE_MS],
  [/^(?:h|hrs?|hours?)$/, HOUR_MS],
  [/^(?:d|days?)$/, DAY_MS],
  [/^(?:w|weeks?)$/, 7 * DAY_MS],
];
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

const FORMS = 'Write a time such as “02:00 tomorrow”, “1 Dec 9:30 UTC”, “2h 30m” or “next step”.';

export interface Move {
  readonly request: AdvanceRequest;
  /** World time; null when only the sandbox knows it. */
  readonly atMs: number | null;
}

/** The milliseconds of a duration; null for any other text. */
function durationMs(text: string): number | null {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s*(?:and|,))?\s*/g)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== text) return null;
  let ms = 0;
  for (const [, count, word] of parts) {
    const unit = UNITS.find(([form]) => form.test(word!));
    if (unit === undefined) return null;
    ms += Number(count) * unit[1];
  }
  return Math.round(ms);
}

/** The first match of a form, and the text without it. */
function taken(text: string, form: RegExp): readonly [RegExpExecArray | null, string] {
  const found = form.exec(text);
  return [found, found === null ? text : text.replace(form, ' ')];
}

/** The time of day in milliseconds. */
function timeOfDay(found: RegExpExecArray): number {
  const [, hours, minutes = '0', seconds = '0', half] = found;
  const hour = Number(hours);
  const isRight =
    (half === undefined ? hour <= 23 : hour >= 1 && hour <= 12) &&
    Number(minutes) <= 59 &&
    Number(seconds) <= 59;
  if (!isRight) throw new Error(`${found[0].trim()} is not a time of day.`);
  const whole = half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0);
  return whole * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1000;
}

/** `2:00`, `14:30:05`, `2 pm`: a number alone is not a time. */
const TIME = /(?:^|\s)(\d{1,2})(?=:|\s*[ap]m)(?::(\d\d)(?::(\d\d))?)?\s*(am|pm)?(?=\s|,|$)/;
const DAY_NAME = /\b(today|tomorrow|(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*)\b/;
const NOON = /\b(noon|midnight)\b/;
const ISO_DATE = /\b(\d{4})-(\d\d)-(\d\d)\b/;
const DATE = /\b(\d{1,2})\s+(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?:\s+(\d{4}))?\b/;
const FILLERS = /\b(?:to|at|on|the|ist|next)\b|,/g;

/** Midnight of a date, as if it were in UTC. */
function dateMs(year: number, month: number, day: number): number {
  const ms = Date.UTC(year, month, day);
  if (new Date(ms).getUTCDate() !== day || new Date(ms).getUTCMonth() !== month)
    throw new Error('There is no such date.');
  return ms;
}

/** @throws Error for a text that cannot be read, or a time in the past */
export function moveOf(text: string, nowMs: number, nextDue: string | null): Move {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ');
  if (/^-\s*\d/.test(words)) throw new Error('A clock never goes back.');
  if (/^(?:(?:to|until) )?(?:the )?next(?: step| settlement)?$/.test(words)) {
    if (nextDue === null) throw new Error('Nothing is scheduled.');
    return { request: { to: nextDue }, atMs: Date.parse(nextDue) };
  }
  if (/^(?:until )?idle$/.test(words)) return { request: { until: 'idle' }, atMs: null };
  const ms = durationMs(words.replace(/^(?:in|by|\+) ?/, ''));
  if (ms !== null && nowMs + ms > LATEST_MS) throw new Error('A clock does not go beyond the year 9999.');
  if (ms !== null) return { request: { by: `${ms}ms` }, atMs: nowMs + ms };
  if (words === 'next week') return { request: { by: '7d' }, atMs: nowMs + 7 * DAY_MS };
  if (/^(?:to )?(?:the )?end of (?:the )?month$/.test(words)) return momentMove(monthEndMs(nowMs), nowMs);
  const iso = /^\d{4}-\d\d-\d\dt\d\d:\d\d/.test(words) && /z$|[+-]\d\d:?\d\d$/.test(words);
  const atMs = iso ? Date.parse(words.toUpperCase()) : momentOf(words, nowMs);
  return momentMove(atMs, nowMs);
}

/** The last minute of the month, in IST. */
function monthEndMs(nowMs: number): number {
  const now = new Date(nowMs + IST_MS);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - MINUTE_MS - IST_MS;
}

function momentMove(atMs: number, nowMs: number): Move {
  if (Number.isNaN(atMs)) throw new Error(FORMS);
  if (atMs < nowMs) throw new Error('This time is in the past, and a clock never goes back.');
  return { request: { to: new Date(atMs).toISOString() }, atMs };
}

/** The day that a text names; null if it names none. @param today midnight, as if the zone were UTC */
function namedDay(
  [iso, date, name]: readonly (RegExpExecArray | null)[],
  today: number,
  isPast: (day: number) => boolean,
): number | null {
  if (iso) return dateMs(Number(iso[1]), Number(iso[2]) - 1, Number(iso[3]));
  if (date) {
    const [, day, month, year] = date;
    const inYear = (which: number): number => dateMs(which, MONTHS.indexOf(month!), Number(day));
    if (year !== undefined) return inYear(Number(year));
    const thisYear = new Date(today).getUTCFullYear();
    return inYear(isPast(inYear(thisYear)) ? thisYear + 1 : thisYear);
  }
  if (!name) return null;
  if (name[1] === 'today') return today;
  if (name[1] === 'tomorrow') return today + DAY_MS;
  const weekday = WEEKDAYS.findIndex((day) => day.startsWith(name[1]!)); // not in “monthly”
  if (weekday === -1) return Number.NaN;
  const ahead = (weekday - new Date(today).getUTCDay() + 7) % 7;
  const day = today + ahead * DAY_MS;
  return isPast(day) ? day + 7 * DAY_MS : day;
}

/** A day, a time of day, or both, in IST unless the text says UTC. */
function momentOf(words: string, nowMs: number): number {
  const [utc, text] = taken(words.replace(/(\d)t(\d)/, '$1 $2'), /\butc\b/);
  const offsetMs = utc === null ? IST_MS : 0;
  const today = Math.floor((nowMs + offsetMs) / DAY_MS) * DAY_MS;
  let rest = text;
  const [iso, date, name, noon, time] = [ISO_DATE, DATE, DAY_NAME, NOON, TIME].map((form) => {
    const [found, others] = taken(rest, form);
    rest = others;
    return found;
  }) as [RegExpExecArray | null, ...(RegExpExecArray | null)[]];
  const days = [iso, date, name].map((one) => one ?? null);
  const named = days.filter((one) => one !== null).length;
  if (rest.replaceAll(FILLERS, '').trim() !== '' || named > 1 || (named === 0 && !time && !noon))
    throw new Error(FORMS);
  const timeMs = time ? timeOfDay(time) : noon?.[1] === 'noon' ? 12 * HOUR_MS : 0;
  const at = (day: number): number => day + timeMs - offsetMs;
  const isPast = (day: number): boolean => at(day) < nowMs;
  return at(namedDay(days, today, isPast) ?? (isPast(today) ? today + DAY_MS : today));
}

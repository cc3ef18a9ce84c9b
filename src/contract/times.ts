import { z } from 'zod';
import { requiredText } from './shape-issues.ts';

/** Times and durations, as people and programs write them. */

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof UNIT_MS;

/** ISO 8601 with or without a zone, and as people read it: `2026-11-20`, `2026-11-20 22:36:05 IST`. */
const INSTANT_FORM =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(?: ?(Z|IST)|([+ -]\d\d):?(\d\d)?)?$/i;
const IST = '+05:30'; // all year: the time of Indian banks
export const IST_OFFSET_MS = 5.5 * 3_600_000;

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const CANONICAL = z.iso.datetime({ offset: true }); // knows the days of each month

/**
 * Parses a time with `Z` or any offset; one with neither is in IST, and one without a time of day is midnight. A space before an offset
 * stands for a `+` that a query should have encoded as `%2B`.
 *
 * @returns ms since the epoch, or undefined when the text is not a time
 */
export function instantMs(text: string): number | undefined {
  const [, date, minute = '00:00', seconds = ':00', name, hours, minutes = '00'] =
    INSTANT_FORM.exec(text) ?? [];
  if (date === undefined) return undefined;
  const offset = hours === undefined ? IST : `${hours.replace(' ', '+')}:${minutes}`;
  const time = `${date}T${minute}${seconds}${name?.toUpperCase() === 'Z' ? 'Z' : offset}`;
  return CANONICAL.safeParse(time).success ? Date.parse(time) : undefined;
}

/** `2026-11-20 22:36:05.123`: a time in India, as people read it. */
const istText = (at: string | number): string =>
  iso(new Date(at).getTime() + IST_OFFSET_MS)
    .slice(0, -1)
    .replace('T', ' ');

/** `2026-11-20` */
export const istDate = (at: string | number): string => istText(at).slice(0, 10);

/** `2026-11-20 22:36:05` */
export const istSecond = (at: string | number): string => istText(at).slice(0, 19);

/** `22:36:05.123` */
export const istTime = (at: string | number): string => istText(at).slice(11);

const noInstant = (input: unknown): string =>
  INSTANT_FORM.test(String(input))
    ? 'must be a date and time that exist'
    : 'must be an ISO 8601 date and time such as 2026-12-01T00:00:00Z or 2026-12-01T05:30:00+05:30';

/** How many seconds pass in a world in a second of wall time. */
export const ClockSpeed = z
  .number()
  .min(0)
  .max(86_400, { error: 'must be from 0 to 86400', abort: true })
  .describe('How many seconds of its time pass in a second: 0 is frozen, 1 is real time, 3600 an hour');

/** An ISO 8601 time as text; parsed to ms since the epoch. */
export const Instant = requiredText(noInstant)
  .meta({ format: 'date-time' })
  .transform((text, context) => {
    const atMs = instantMs(text);
    if (atMs !== undefined) return atMs;
    context.issues.push({
      code: 'invalid_format',
      format: 'datetime',
      message: noInstant(text),
      input: text,
    });
    return z.NEVER;
  });

/** A time as the control API writes it: ISO 8601 in UTC, with milliseconds. */
export const iso = (atMs: number): string => new Date(atMs).toISOString();

/** The minute of the day in IST, from 0. */
export const istMinute = (atMs: number): number =>
  Math.floor(((atMs + IST_OFFSET_MS) % UNIT_MS.d) / UNIT_MS.m);

/** A minute of the day as a scenario file writes it: `06:30`. */
export const timeOfDay = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

/** How people write each unit. */
const UNIT_WORDS = 'ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?';

const unitOf = (word: string): Unit => (/^(ms|mil)/.test(word) ? 'ms' : (word.charAt(0) as Unit));

/** `300ms`, `90s`, `2h 30m`, `3 days`, or ISO 8601 without months and years, which have no fixed length. */
export const DURATION_FORM = `^(\\d+(\\.\\d+)? ?(${UNIT_WORDS})( ?\\d+(\\.\\d+)? ?(${UNIT_WORDS}))*|P(?=.)(\\d+W)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+(\\.\\d+)?S)?)?)$`;
const FORM = new RegExp(DURATION_FORM);
const PARTS = new RegExp(`(\\d+(?:\\.\\d+)?) ?(${UNIT_WORDS})`, 'gi');

const LONGEST_DAYS = 3_650_000; // ten thousand years: timestamps cannot show later times

/** Parses a duration. @returns whole milliseconds, at least 0, or undefined when the text is no duration, or too long, or its units do not get smaller */
export function durationMs(text: string): number | undefined {
  const ms = anyDurationMs(text);
  return ms !== undefined && ms <= LONGEST_DAYS * UNIT_MS.d ? ms : undefined;
}

function anyDurationMs(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const parts = [...text.matchAll(PARTS)];
  const units = parts.map(([, , word]) => UNIT_MS[unitOf(word!.toLowerCase())]);
  if (units.some((unitMs, nth) => nth > 0 && unitMs >= units[nth - 1]!)) return undefined;
  return Math.round(parts.reduce((sum, [, count], nth) => sum + Number(count) * units[nth]!, 0));
}

/** The hint for a time of day, for a unit alone, and for a bare number: which units it could have. */
function missingUnit(input: unknown): string {
  const text = String(input);
  if (/^\d\d?:\d\d$/.test(text)) return `: ${text} is a time of day`;
  if (durationMs(`1${text}`) !== undefined && !/^\d/.test(text)) return `: write 1${text}`;
  return /^\d{1,15}(\.\d+)?$/.test(text)
    ? `: ${text} has no unit, write ${text}s for seconds or ${text}ms for milliseconds`
    : '';
}

/** A duration as text; parsed to whole milliseconds. @param like examples for its error message */
export function durationLike(like: string, meta: z.GlobalMeta) {
  const error = (input: unknown): string =>
    typeof input === 'string' && anyDurationMs(input) !== undefined
      ? `must be at most ${LONGEST_DAYS}d`
      : `must be a duration such as ${like} or PT90S${missingUnit(input)}`;
  return requiredText(error)
    .meta(meta)
    .transform((text, context) => {
      const ms = durationMs(text);
      if (ms !== undefined) return ms;
      context.issues.push({ code: 'custom', message: error(text), input: text });
      return z.NEVER;
    });
}

/** Writes whole milliseconds in the largest unit that keeps them whole: 90000 is `90s`, 86400000 is `1d`. */
export function durationText(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNIT_MS[unit] && ms % UNIT_MS[unit] === 0) return `${ms / UNIT_MS[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** A time as people write it, for messages: `300 ms`, `2.0 s`, `5 min`, `1 h 30 min`. */
export function timeText(ms: number): string {
  const rounded = Math.round(Math.max(ms, 0));
  if (rounded < 1000) return `${rounded} ms`;
  const seconds = rounded / 1000;
  if (seconds < 120) return `${seconds.toFixed(1)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
}

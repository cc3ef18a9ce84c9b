import { z } from 'zod';
import { requiredText } from './shape-issues.ts';

/** ISO 8601 with or without a zone, and as people read it: `2026-11-20`, `2026-11-20 22:36:05 IST`. */
const FORM = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?)?(?: ?(Z|IST)|([+ -]\d\d):?(\d\d)?)?$/i;
const IST = '+05:30'; // all year: the time of Indian banks
export const IST_OFFSET_MS = 5.5 * 3_600_000;
const DAY_MS = 86_400_000;

export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const CANONICAL = z.iso.datetime({ offset: true }); // knows the days of each month

/**
 * Parses a time with `Z` or any offset; one with neither is in IST, and one without a time of day is midnight. A space before an offset
 * stands for a `+` that a query should have encoded as `%2B`.
 *
 * @returns ms since the epoch, or undefined when the text is not a time
 */
export function instantMs(text: string): number | undefined {
  const [, date, minute = '00:00', seconds = ':00', name, hours, minutes = '00'] = FORM.exec(text) ?? [];
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
  FORM.test(String(input))
    ? 'must be a date and time that exist'
    : 'must be an ISO 8601 date and time such as 2026-12-01T00:00:00Z or 2026-12-01T05:30:00+05:30';

/** An ISO 8601 time as text; parsed to ms since the epoch. */
/** How many seconds pass in a world in a second of wall time. */
export const ClockSpeed = z
  .number()
  .min(0)
  .max(86_400, { error: 'must be from 0 to 86400' })
  .describe('How many seconds of its time pass in a second: 0 is frozen, 1 is real time, 3600 an hour');

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
export const istMinute = (atMs: number): number => Math.floor(((atMs + IST_OFFSET_MS) % DAY_MS) / 60_000);

/** A minute of the day as a scenario file writes it: `06:30`. */
export const timeOfDay = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');

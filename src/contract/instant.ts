import { z } from 'zod';
import { requiredText } from './shape-issues.ts';

const FORM = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+ -]\d\d):?(\d\d)?)?$/;
const IST = '+05:30'; // all year: the time of Indian banks
export const IST_OFFSET_MS = 5.5 * 3_600_000;
const DAY_MS = 86_400_000;
const CANONICAL = z.iso.datetime({ offset: true }); // knows the days of each month

/**
 * Parses an ISO 8601 time with `Z` or any offset; one with neither is in IST. A space before an offset stands for a `+` that a
 * query should have encoded as `%2B`.
 *
 * @returns ms since the epoch, or undefined when the text is not a time
 */
export function instantMs(text: string): number | undefined {
  const [, minute, seconds = ':00', utc, hours, minutes = '00'] = FORM.exec(text) ?? [];
  if (minute === undefined) return undefined;
  const zone = utc ?? (hours === undefined ? IST : `${hours.replace(' ', '+')}:${minutes}`);
  const time = `${minute}${seconds}${zone}`;
  return CANONICAL.safeParse(time).success ? Date.parse(time) : undefined;
}

/** Writes times of a zone: `2026-11-20 22:36:05`. @param zone IST, or a name of the time zone database @throws RangeError for any other */
export const zoneFormat = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone === 'IST' ? 'Asia/Kolkata' : zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });

const PRINTED =
  /^(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(\d\d:\d\d)(:\d\d(?:\.\d{1,3})?)?)?(?: ?([A-Za-z]\S*))?$/;

/**
 * Parses a time as people read it on a screen, `2026-11-20 22:36:05 IST`, as well as ISO 8601: without a zone in the given one,
 * without a time of day midnight, and without a date on the day of `nowMs`, which is then the latest such time before it.
 *
 * @returns ms since the epoch, or undefined when the text is not a time
 */
export function writtenInstantMs(text: string, usualZone = 'IST', nowMs?: number): number | undefined {
  const [, date, minute, seconds = ':00', zone = usualZone] = PRINTED.exec(text) ?? [];
  if (minute === undefined && date === undefined) return instantMs(text);
  if (date === undefined && nowMs === undefined) return undefined;
  let format: Intl.DateTimeFormat;
  try {
    format = zoneFormat(zone);
  } catch {
    return instantMs(text); // Z is no zone of the database
  }
  const localMs = (atMs: number): number => Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`);
  const wanted = (day: string): number | undefined => {
    const local = `${day}T${minute ?? '00:00'}${seconds}Z`;
    if (!CANONICAL.safeParse(local).success) return undefined;
    const wallMs = Date.parse(local);
    const nearMs = wallMs - (localMs(wallMs) - wallMs + (wallMs % 1000)); // wrong only around a change of the offset
    return wallMs - (localMs(nearMs) - nearMs + (nearMs % 1000));
  };
  if (date !== undefined) return wanted(date);
  const days = [nowMs!, nowMs! - DAY_MS].map((atMs) => format.format(atMs).slice(0, 10));
  const [today, before] = days.map(wanted);
  return today !== undefined && today > nowMs! ? before : today;
}

const noInstant = (input: unknown): string =>
  FORM.test(String(input))
    ? 'must be a date and time that exist'
    : 'must be an ISO 8601 date and time such as 2026-12-01T00:00:00Z or 2026-12-01T05:30:00+05:30';

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

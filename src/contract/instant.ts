import { z } from 'zod';
import { requiredText } from './shape-issues.ts';

const FORM = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+ -]\d\d):?(\d\d)?)?$/;
const IST = '+05:30'; // all year: the time of Indian banks
export const IST_OFFSET_MS = 5.5 * 3_600_000;
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

const NO_INSTANT = 'must be an ISO 8601 time such as 2026-12-01T00:00:00Z or 2026-12-01T05:30:00+05:30';

/** An ISO 8601 time as text; parsed to ms since the epoch. */
export const Instant = requiredText(NO_INSTANT)
  .meta({ format: 'date-time' })
  .transform((text, context) => {
    const atMs = instantMs(text);
    if (atMs !== undefined) return atMs;
    context.issues.push({ code: 'invalid_format', format: 'datetime', message: NO_INSTANT, input: text });
    return z.NEVER;
  });

/** A time as the control API writes it: ISO 8601 in UTC, with milliseconds. */
export const iso = (atMs: number): string => new Date(atMs).toISOString();

import { z } from 'zod';
import { requiredText } from './shape-issues.ts';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof UNIT_MS;

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

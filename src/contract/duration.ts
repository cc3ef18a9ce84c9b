import { z } from 'zod';
import { requiredText } from './shape-issues.ts';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** `300ms`, `90s`, `40m`, `2h`, `3d`, `1w`, or ISO 8601 without months and years, which have no fixed length. */
export const DURATION_FORM =
  '^(\\d+(\\.\\d+)?(ms|s|m|h|d|w)|P(?=.)(\\d+W)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+(\\.\\d+)?S)?)?)$';
const FORM = new RegExp(DURATION_FORM);
const PARTS = /(\d+(?:\.\d+)?)(ms|[smhdw])/gi;

/** Parses a duration. @returns whole milliseconds, at least 0, or undefined when the text is not a duration */
export function durationMs(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const parts = [...text.matchAll(PARTS)];
  const ms = Math.round(
    parts.reduce(
      (sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!.toLowerCase() as keyof typeof UNIT_MS],
      0,
    ),
  );
  return Number.isSafeInteger(ms) ? ms : undefined;
}

/** The hint for a bare number: which units it could have. */
function missingUnit(input: unknown): string {
  const text = String(input);
  return /^\d{1,15}(\.\d+)?$/.test(text)
    ? `: ${text} has no unit, write ${text}s for seconds or ${text}ms for milliseconds`
    : '';
}

/** A duration as text; parsed to whole milliseconds. @param like examples for its error message */
export function durationLike(like: string, meta: z.GlobalMeta) {
  const error = (input: unknown): string =>
    `must be a duration such as ${like} or PT90S${missingUnit(input)}`;
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

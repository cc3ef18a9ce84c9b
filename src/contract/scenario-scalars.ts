import { z } from 'zod';
import { durationMs } from './duration.ts';
import { isWholePaise, MAX_AMOUNT_INR } from './service.ts';

/** The single values of a scenario file: durations, times of day, amounts, names. */

const DURATION_FORM =
  '^(\\d+(\\.\\d+)?(ms|s|m|h|d|w)|P(?=.)(\\d+W)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+(\\.\\d+)?S)?)?)$';

const LONGEST_WAIT_MS = 3_600_000;
const LONGEST_MS = 3_650_000 * 86_400_000; // ten thousand years: timestamps cannot show later times
const NO_DURATION = 'must be a duration such as 300ms, 90s, 40m, 2h, 3d or PT90S';

/** A duration; parsed to whole milliseconds. */
export const Duration = z
  .string({ error: NO_DURATION })
  .meta({ pattern: DURATION_FORM, examples: ['300ms', '90s', '40m', '2h', '3d', 'PT90S'] })
  .transform((text, context) => {
    const ms = durationMs(text);
    if (ms !== undefined) return ms;
    context.issues.push({ code: 'custom', message: NO_DURATION, input: text });
    return z.NEVER;
  })
  .refine((ms) => ms <= LONGEST_MS, { error: 'must be at most 3650000d' });

const NO_TIME_OF_DAY = 'must be a time of day (IST) such as "06:30"';

/** A duration in wall time for which a client waits. */
export const Wait = Duration.refine((ms) => ms <= LONGEST_WAIT_MS, {
  error: 'must be at most 1h, since it is wall time',
});

/** A time of day in IST; parsed to minutes after midnight. */
export const TimeOfDay = z
  .string({ error: NO_TIME_OF_DAY })
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: NO_TIME_OF_DAY })
  .meta({ examples: ['06:30'] })
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

export const Inr = (min: number) =>
  z
    .number()
    .min(min)
    .max(MAX_AMOUNT_INR)
    .refine(isWholePaise, { error: 'must have at most 2 decimals (INR, whole paise)' });

export const Count = z.int().min(1);

export const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, {
  error: 'must be a name of lower-case letters, digits and hyphens, at most 64 characters',
});

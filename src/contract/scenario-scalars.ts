import { z } from 'zod';
import { DURATION_FORM, durationLike } from './duration.ts';
import { requiredText } from './shape-issues.ts';

/** The single values of a scenario file: durations, times of day, amounts, names. */

const LONGEST_WAIT_MS = 3_600_000;
const LONGEST_MS = 3_650_000 * 86_400_000; // ten thousand years: timestamps cannot show later times

/** A duration; parsed to whole milliseconds. */
export const Duration = durationLike('300ms, 90s, 40m, 2h, 3d', {
  pattern: DURATION_FORM,
  examples: ['300ms', '90s', '40m', '2h', '3d', 'PT90S'],
}).refine((ms) => ms <= LONGEST_MS, { error: 'must be at most 3650000d' });

const NO_TIME_OF_DAY = 'must be a time of day (IST) such as "06:30"';

/** A duration in wall time for which a client waits. */
export const Wait = Duration.refine((ms) => ms <= LONGEST_WAIT_MS, {
  error: 'must be at most 1h, since it is wall time',
});

/** A time of day in IST; parsed to minutes after midnight. */
export const TimeOfDay = requiredText(NO_TIME_OF_DAY)
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: NO_TIME_OF_DAY })
  .meta({ examples: ['06:30'] })
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

export const Count = z.int().min(1);

export const Name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, {
  error: 'must be a name of lower-case letters, digits and hyphens, at most 64 characters',
});

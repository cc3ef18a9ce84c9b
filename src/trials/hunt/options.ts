import { z } from 'zod';
import { wholeNumber } from '../../contract/control.ts';
import { durationLike } from '../../contract/times.ts';
import { suggestion } from '../../contract/suggestion.ts';
import { UsageError } from '../../contract/usage-error.ts';
import { CheckedSettings } from '../../referee/intents.ts';
import { GOALS } from './goals.ts';

/** Why a hunt cannot begin: its options, or how the client behaves without any failure. */
export class HuntError extends UsageError {
  override readonly name = 'HuntError';
}

const Time = durationLike('10s, 5m', { examples: ['10s', '5m'] }).refine((ms) => ms > 0, {
  error: 'must be above 0s',
});

/** A hang lasts a little longer, and no rule may order one of more than an hour. */
const Patience = Time.refine((ms) => ms <= 50 * 60_000, { error: 'must be at most 50m' });

const HuntSettings = z.strictObject({
  goals: z
    .array(z.enum(GOALS, { error: `must be one of ${GOALS.join(', ')}` }))
    .min(1)
    .default([...GOALS]),
  intent: CheckedSettings.shape.intent,
  expect: CheckedSettings.shape.expect,
  off: CheckedSettings.shape.off,
  seed: z
    .union([z.string().min(1), z.number()])
    .transform(String)
    .default('1')
    .describe('The seed of every world'),
  runs: wholeNumber(1, 1_000_000)
    .default(500)
    .describe('The most runs that search; those that repeat a finding come on top'),
  depth: wholeNumber(1, 10).default(3).describe('The most failures in one run'),
  time: Time.default(300_000).describe('How long to search, in wall time'),
  workers: wholeNumber(1, 64).default(1).describe('How many runs to do at once'),
  patience: Patience.default(10_000).describe('How long the client may wait for a response'),
});
export type HuntSettings = z.output<typeof HuntSettings>;
export type HuntSettingsInput = z.input<typeof HuntSettings>;

/** @param calledBy the name of a setting in messages @throws HuntError that names a setting that cannot be used */
export function huntSettings(given: unknown, calledBy = (name: string): string => name): HuntSettings {
  const checked = HuntSettings.safeParse(given);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0]!;
  if (issue.code !== 'unrecognized_keys')
    throw new HuntError(`${calledBy(String(issue.path[0]))} ${issue.message}`);
  const [key] = issue.keys as [string];
  throw new HuntError(`there is no option ${key}${suggestion(key, Object.keys(HuntSettings.shape))}`);
}

import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { flag, text, wholeNumber } from '../../actions/arguments.ts';
import { INTENT } from '../../actions/journal-actions.ts';

/** The flags of the commands that test a client, from which their options, checks and types are made. */

/** A flag that may be given several times. */
const list = (description: string, title: string) =>
  z.array(z.string()).default([]).meta({ description, title });

const ENV = list(
  'a variable of the command, with {url}, {key}, {dir} (a fresh folder) and {cert} (of --tls self-signed) filled in',
  'name=value',
);

/** What every verdict is about. */
const CONDUCT = {
  intent: INTENT,
  expect: text(
    'the payouts that should end up paid: a list in YAML or JSON, each with account, amount, times',
    'file',
  ).optional(),
  patience: text('how long a client may wait for a response [default 10s]', 'time').optional(),
  json: flag('print the result as JSON'),
};

const JUDGED = {
  off: list('a check to switch off, with the reason', 'check=reason'),
  failOn: z.enum(['error', 'warning', 'notice', 'never']).default('error').meta({
    description: 'the lowest severity that fails: error, warning, notice or never [default error]',
    title: 'severity',
  }),
};

/** What runs a command many times. */
const RUNS = {
  exitCodes: text(
    'what the exit codes of the command say [default paid=0,failed=1,in-doubt=75]',
    'map',
  ).optional(),
  // more than four would slow each other down
  workers: wholeNumber('how many runs to do at once [default one per processor, at most 4]', 1, 64).default(
    () => Math.min(availableParallelism(), 4),
  ),
};

export const REFEREE_FLAGS = {
  url: text('a running sandbox, instead of one of its own', 'url').optional(),
  key: text('the key for {key} [default sk_test_referee]', 'key').optional(),
  ...CONDUCT,
  ...JUDGED,
  report: list('junit, markdown, json or text, to a file', 'format=file'),
  verbose: flag('report each check, also those that had nothing to test'),
  require: list('checks that must have been exercised, separated by commas', 'checks'),
  env: ENV,
};
export type RefereeFlags = z.output<z.ZodObject<typeof REFEREE_FLAGS>>;

export const HUNT_FLAGS = {
  goal: list('paid-twice, lost, misreported, stuck or conduct, separated by commas [default all]', 'goals'),
  depth: text('limit on failures in one run [default 3]', 'number').optional(),
  runs: text('limit on runs [default 500]', 'number').optional(),
  time: text('how long to search [default 5m]', 'time').optional(),
  write: text('where to write each finding as a scenario', 'folder').optional(),
  kill: z.boolean().default(true).describe('never kill the command to run it again'),
  ...RUNS,
  ...CONDUCT,
  env: ENV,
};
export type HuntFlags = z.output<z.ZodObject<typeof HUNT_FLAGS>>;

export const MATRIX_FLAGS = {
  dialects: text('all, none, or presets by name: see docs/matrix.md [default all]', 'names').default('all'),
  scenarios: text('all, none, or scenarios by name or file [default all]', 'names').default('all'),
  limit: text('how long one run may take [default 5m]', 'time').default('5m'),
  report: list('markdown, junit or json, to a file', 'format=file'),
  ...RUNS,
  ...CONDUCT,
  ...JUDGED,
  env: ENV,
};
export type MatrixFlags = z.output<z.ZodObject<typeof MATRIX_FLAGS>>;

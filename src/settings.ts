import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import type { ScenarioInput } from './contract/control.ts';
import { MAX_AMOUNT_INR } from './contract/service.ts';
import type { ScenarioSettings } from './contract/snapshot-lines.ts';
import { toPaise } from './payout/money.ts';
import { SETTLEMENTS } from './payout/settlement.ts';
import {
  byteSize,
  commaList,
  duration,
  everySoOften,
  hostNames,
  rateLimit,
  rupees,
  startingClock,
} from './setting-texts.ts';

const expects = (what: string) => ({ error: `must be ${what}` });

/** Parses a text with `read`, which returns undefined for a text that it cannot parse. */
const readWith = <T>(read: (text: string) => T | undefined, what: string) =>
  z.union([z.string(), z.number()], expects(what)).transform((value, context) => {
    const result = read(String(value).trim());
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: `must be ${what}`, input: value });
    return z.NEVER;
  });

const wholeNumber = (min: number, max: number) =>
  readWith((text) => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  }, `a whole number from ${min} to ${max}`);

const WORST_TRANSACTION_BYTES = 1536; // with every text field at its longest, in two-byte characters
const SHARE_OF_HEAP = 0.6;

/** A million, or what fits into 60 % of this process's heap limit if that is less. */
const defaultMaxTransactions = (): number =>
  Math.min(
    1_000_000,
    Math.floor((getHeapStatistics().heap_size_limit * SHARE_OF_HEAP) / WORST_TRANSACTION_BYTES),
  );

const WORST_CONNECTION_BYTES = 96 * 1024; // with its headers and its body at their largest

/** 4,000, or what fits into a quarter of this process's heap limit if that is less. */
const defaultMaxConnections = (): number =>
  Math.min(4000, Math.floor(getHeapStatistics().heap_size_limit / 4 / WORST_CONNECTION_BYTES));

/** Every setting: its shape and its default. Its flag and its environment variable follow from its name. */
const SettingsSchema = z.object({
  port: wholeNumber(0, 65_535).default(3000),
  host: z.string(expects('an address or a host name')).min(1).default('127.0.0.1'),
  allowedHosts: readWith(hostNames, 'host names, separated by commas').optional(),
  logLevel: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  apiKeys: readWith(commaList, 'keys of visible ASCII characters, separated by commas').optional(),
  openingBalance: readWith(
    rupees,
    `an amount in INR from 0 to ${MAX_AMOUNT_INR} with at most 2 decimals`,
  ).prefault('1000000.00'),
  settlement: z.enum(SETTLEMENTS).default('demo'),
  scenario: z
    .custom<string | ScenarioInput>(
      (value) => (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null),
      expects('the name of a scenario or the path of a file'),
    )
    .optional(),
  scenarios: z.string(expects('a folder')).min(1).optional(),
  magic: z.enum(['on', 'off']).default('on'),
  rateLimit: readWith(rateLimit, 'a count per time of at most a day, such as 100/1s, or off').prefault(
    '100/1s',
  ),
  seed: z
    .union([z.string(expects('a text or a number')).min(1), z.number()], expects('a text or a number'))
    .transform(String)
    .prefault('1'),
  clock: readWith(
    startingClock,
    'running, or an ISO 8601 time in UTC from the year 2000 on, such as 2026-01-15T10:30:00Z',
  ).prefault('running'),
  maxTransactions: wholeNumber(1, 1_000_000_000).default(defaultMaxTransactions),
  maxWorlds: wholeNumber(1, 10_000_000).default(10_000),
  maxConnections: wholeNumber(1, 1_000_000).default(defaultMaxConnections),
  worldIdle: readWith(duration, 'a duration such as 90s, 12h or 1d').prefault('1d'),
  journalEntries: wholeNumber(0, 1_000_000).default(1000),
  journalMemory: readWith(byteSize, 'a size such as 64MiB').prefault('64MiB'),
  state: z.string(expects('a file')).min(1).optional(),
  stateEvery: readWith(everySoOften, 'a duration such as 30s, or off').prefault('off'),
  metrics: z.enum(['on', 'off']).default('off'),
  adminToken: z
    .string(expects('a text of 16 visible ASCII characters or more'))
    .regex(/^[\x21-\x7e]{16,256}$/, expects('a text of 16 visible ASCII characters or more'))
    .refine(
      (token) => !token.startsWith('sk_test_'),
      expects('a text that does not begin with sk_test_, since keys do'),
    )
    .optional(),
});

/** The parsed settings: numbers, INR, milliseconds. */
export type Settings = z.infer<typeof SettingsSchema>;
export type SettingName = keyof Settings;

/** Settings as the library accepts them: each is optional, as text or as its own type. */
export type SettingsInput = z.input<typeof SettingsSchema>;

type Explanation = readonly [placeholder: string, description: string, defaultText?: string];

/** What `--help` says of each setting, and its default where that is not a value of it. */
const EXPLANATIONS: Readonly<Record<SettingName, Explanation>> = {
  port: ['<number>', 'the port to listen on; 0 picks a free one and prints it'],
  host: ['<address>', 'the address to listen on; 0.0.0.0 for all addresses'],
  allowedHosts: [
    '<names>',
    'host names served beside localhost, when it listens on a loopback address',
    'none',
  ],
  logLevel: ['<level>', 'fatal, error, warn, info, debug, trace or silent'],
  apiKeys: ['<keys>', 'the only keys accepted, separated by commas', 'every key that begins with sk_test_'],
  openingBalance: ['<INR>', 'the balance of a new world'],
  settlement: ['<preset>', `how payouts settle after initiate: ${SETTLEMENTS.join(', ')}`],
  scenario: [
    '<name or file>',
    'how worlds behave; a scenario overrides the other settings',
    'the settings alone',
  ],
  scenarios: [
    '<folder>',
    'a folder of your own scenarios, in addition to the built-in ones; watched for changes',
    'none',
  ],
  magic: ['<on or off>', 'whether magic beneficiaries force an answer'],
  rateLimit: ['<n/time>', 'how many initiates each key may send in a window of wall time, or off'],
  seed: ['<text>', 'the seed of ids, UTRs and random draws'],
  clock: ['<time>', 'running, or the time at which the clock of every new world is frozen'],
  maxTransactions: [
    '<number>',
    'the most transactions in all worlds together; beyond it, initiate answers 500',
    '1000000, or fewer where the heap is small',
  ],
  maxWorlds: ['<number>', 'the most worlds; one more drops the world that was idle longest'],
  maxConnections: [
    '<number>',
    'the most connections; one more closes the connection that was idle longest',
    '4000, or fewer where the heap is small',
  ],
  worldIdle: ['<time>', 'a world without requests for this long is dropped'],
  journalEntries: ['<number>', 'the most requests in the journal of each world; 0 for no journal'],
  journalMemory: [
    '<size>',
    'the approximate memory of all journals together; beyond it, the oldest entries are dropped',
  ],
  state: [
    '<file>',
    'the file that stores all worlds: read at the start if it exists, written at the stop',
    'nowhere',
  ],
  stateEvery: ['<time>', 'how often the state is also written while requests arrive, or off'],
  metrics: ['<on or off>', 'whether GET /_sandbox/metrics serves Prometheus metrics'],
  adminToken: [
    '<token>',
    'the token for GET and DELETE /_sandbox/worlds, 16 characters or more',
    'generated and printed at the start',
  ],
};

interface Setting {
  readonly name: SettingName;
  /** `--opening-balance` */
  readonly flag: string;
  /** `SANDBOX_OPENING_BALANCE` */
  readonly env: string;
  /** The placeholder of the value in `--help`: `--port <number>`. */
  readonly value: string;
  readonly description: string;
  /** The default as `--help` and the README show it. */
  readonly defaultText: string;
}

/** Variables that other programs use too. All others begin with SANDBOX_. */
const SHARED_ENV: ReadonlySet<string> = new Set(['PORT', 'HOST', 'LOG_LEVEL']);

function settingOf(name: SettingName): Setting {
  const { defaultValue } = SettingsSchema.shape[name].def as { readonly defaultValue?: unknown };
  const [value, description, defaultText = String(defaultValue)] = EXPLANATIONS[name];
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const env = words.replaceAll('-', '_').toUpperCase();
  return {
    name,
    flag: `--${words}`,
    env: SHARED_ENV.has(env) ? env : `SANDBOX_${env}`,
    value,
    description,
    defaultText,
  };
}

/** Every setting with its names, in the order of `--help` and of the README's table. */
export const SETTINGS: readonly Setting[] = (Object.keys(SettingsSchema.shape) as SettingName[]).map(
  settingOf,
);

/** An invalid setting. The message is one line and names the flag or the variable of the setting. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const SECRETS: ReadonlySet<string> = new Set(['apiKeys', 'adminToken']); // their values are never shown

type Given = Readonly<Record<string, unknown>>;

/**
 * Reads the settings: a flag overrides its environment variable, which overrides the default. An empty variable counts as
 * not set.
 *
 * @param flags by setting name, as text
 * @throws SettingsError with every invalid value, on one line
 */
export function readSettings(flags: Given, environment: Given): Settings {
  const unknown = Object.keys(flags).filter((name) => !Object.hasOwn(SettingsSchema.shape, name));
  if (unknown.length > 0) throw new SettingsError(`there is no setting ${unknown.join(', ')}`);
  const given: Record<string, unknown> = {};
  const source: Record<string, string> = {};
  for (const { name, flag, env } of SETTINGS) {
    const fromEnvironment = environment[env] === '' ? undefined : environment[env];
    given[name] = flags[name] ?? fromEnvironment;
    source[name] = flags[name] === undefined ? env : flag;
  }
  const result = SettingsSchema.safeParse(given);
  if (result.success) return result.data;
  throw new SettingsError(complaints(result.error, given, source));
}

function complaints(error: z.ZodError, given: Given, source: Readonly<Record<string, string>>): string {
  const byName = new Map<string, string>();
  for (const issue of error.issues) {
    const name = String(issue.path[0]);
    const message =
      issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : issue.message;
    const value = SECRETS.has(name) ? '' : `, not ${JSON.stringify(given[name])}`;
    if (!byName.has(name)) byName.set(name, `${source[name] ?? name} ${message}${value}`);
  }
  return [...byName.values()].join('; ');
}

/** What a scenario does where it says nothing. */
export const scenarioSettings = (settings: Settings): ScenarioSettings => ({
  openingBalancePaise: toPaise(settings.openingBalance),
  seed: settings.seed,
  settlement: settings.settlement,
  clock: settings.clock === 'running' ? { frozenAtMs: null, aheadMs: 0 } : settings.clock,
  rateLimit: settings.rateLimit,
  isMagic: settings.magic === 'on',
});

import { getHeapStatistics } from 'node:v8';
import { z } from 'zod';
import type { ScenarioInput } from './contract/control.ts';
import { MAX_AMOUNT_INR } from './contract/payout.ts';
import type { ScenarioSettings } from './contract/snapshot.ts';
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

/** The names and the explanation of a setting. */
interface Explained {
  readonly env: string;
  /** The placeholder of the value in `--help`: `--port <number>`. */
  readonly value: string;
  readonly description: string;
  /** The default as `--help` and the README show it, if it is not the value itself. */
  readonly defaultText?: string;
}

const explain = z.registry<Explained>();

const expects = (what: string) => ({ error: `must be ${what}` });

/** A whole number, as text (flag, environment) or as a number (library). */
const wholeNumber = (min: number, max: number) => {
  const wrong = expects(`a whole number from ${min} to ${max}`);
  return z.preprocess(
    (value) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value),
    z.number(wrong).int(wrong).min(min, wrong).max(max, wrong),
  );
};

/** Parses a text with `read`, which returns undefined for a text that it cannot parse. */
const readWith = <T>(read: (text: string) => T | undefined, what: string) =>
  z.union([z.string(), z.number()], expects(what)).transform((value, context) => {
    const result = read(String(value).trim());
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: `must be ${what}`, input: value });
    return z.NEVER;
  });

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

/** Every setting of the sandbox: its shape, its default, its names and its explanation. */
const SettingsSchema = z.object({
  port: wholeNumber(0, 65_535).default(3000).register(explain, {
    env: 'PORT',
    value: '<number>',
    description: 'the port to listen on; 0 picks a free one and prints it',
  }),
  host: z.string(expects('an address or a host name')).min(1).default('127.0.0.1').register(explain, {
    env: 'HOST',
    value: '<address>',
    description: 'the address to listen on; 0.0.0.0 for all addresses',
  }),
  allowedHosts: readWith(hostNames, 'host names, separated by commas').optional().register(explain, {
    env: 'SANDBOX_ALLOWED_HOSTS',
    value: '<names>',
    description: 'host names served beside localhost, when it listens on a loopback address',
    defaultText: 'none',
  }),
  logLevel: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .register(explain, {
      env: 'LOG_LEVEL',
      value: '<level>',
      description: 'fatal, error, warn, info, debug, trace or silent',
    }),
  apiKeys: readWith(commaList, 'keys of visible ASCII characters, separated by commas')
    .optional()
    .register(explain, {
      env: 'SANDBOX_API_KEYS',
      value: '<keys>',
      description: 'the only keys accepted, separated by commas',
      defaultText: 'every key that begins with sk_test_',
    }),
  openingBalance: readWith(rupees, `an amount in INR from 0 to ${MAX_AMOUNT_INR} with at most 2 decimals`)
    .prefault('1000000.00')
    .register(explain, {
      env: 'SANDBOX_OPENING_BALANCE',
      value: '<INR>',
      description: 'the balance of a new world',
    }),
  settlement: z
    .enum(SETTLEMENTS)
    .default('demo')
    .register(explain, {
      env: 'SANDBOX_SETTLEMENT',
      value: '<preset>',
      description: `how payouts settle after initiate: ${SETTLEMENTS.join(', ')}`,
    }),
  scenario: z
    .custom<string | ScenarioInput>(
      (value) => (typeof value === 'string' && value !== '') || (typeof value === 'object' && value !== null),
      expects('the name of a scenario or the path of a file'),
    )
    .optional()
    .register(explain, {
      env: 'SANDBOX_SCENARIO',
      value: '<name or file>',
      description: 'how worlds behave; a scenario overrides the other settings',
      defaultText: 'the settings alone',
    }),
  scenarios: z.string(expects('a folder')).min(1).optional().register(explain, {
    env: 'SANDBOX_SCENARIOS',
    value: '<folder>',
    description: 'a folder of your own scenarios, in addition to the built-in ones; watched for changes',
    defaultText: 'none',
  }),
  magic: z.enum(['on', 'off']).default('on').register(explain, {
    env: 'SANDBOX_MAGIC',
    value: '<on or off>',
    description: 'whether magic beneficiaries force an answer',
  }),
  rateLimit: readWith(rateLimit, 'a count per time of at most a day, such as 100/1s, or off')
    .prefault('100/1s')
    .register(explain, {
      env: 'SANDBOX_RATE_LIMIT',
      value: '<n/time>',
      description: 'how many initiates each key may send in a window of wall time, or off',
    }),
  seed: z
    .union([z.string(expects('a text or a number')).min(1), z.number()], expects('a text or a number'))
    .transform(String)
    .prefault('1')
    .register(explain, {
      env: 'SANDBOX_SEED',
      value: '<text>',
      description: 'the seed of ids, UTRs and random draws',
    }),
  clock: readWith(
    startingClock,
    'running, or an ISO 8601 time in UTC from the year 2000 on, such as 2026-01-15T10:30:00Z',
  )
    .prefault('running')
    .register(explain, {
      env: 'SANDBOX_CLOCK',
      value: '<time>',
      description: 'running, or the time at which the clock of every new world is frozen',
    }),
  maxTransactions: wholeNumber(1, 1_000_000_000).default(defaultMaxTransactions).register(explain, {
    env: 'SANDBOX_MAX_TRANSACTIONS',
    value: '<number>',
    description: 'the most transactions in all worlds together; beyond it, initiate answers 500',
    defaultText: '1000000, or fewer where the heap is small',
  }),
  maxWorlds: wholeNumber(1, 10_000_000).default(10_000).register(explain, {
    env: 'SANDBOX_MAX_WORLDS',
    value: '<number>',
    description: 'the most worlds; one more drops the world that was idle longest',
  }),
  maxConnections: wholeNumber(1, 1_000_000).default(defaultMaxConnections).register(explain, {
    env: 'SANDBOX_MAX_CONNECTIONS',
    value: '<number>',
    description: 'the most connections; one more closes the connection that was idle longest',
    defaultText: '4000, or fewer where the heap is small',
  }),
  worldIdle: readWith(duration, 'a duration such as 90s, 12h or 1d').prefault('1d').register(explain, {
    env: 'SANDBOX_WORLD_IDLE',
    value: '<time>',
    description: 'a world without requests for this long is dropped',
  }),
  journalEntries: wholeNumber(0, 1_000_000).default(1000).register(explain, {
    env: 'SANDBOX_JOURNAL_ENTRIES',
    value: '<number>',
    description: 'the most requests in the journal of each world; 0 for no journal',
  }),
  journalMemory: readWith(byteSize, 'a size such as 64MiB').prefault('64MiB').register(explain, {
    env: 'SANDBOX_JOURNAL_MEMORY',
    value: '<size>',
    description: 'the approximate memory of all journals together; beyond it, the oldest entries are dropped',
  }),
  state: z.string(expects('a file')).min(1).optional().register(explain, {
    env: 'SANDBOX_STATE',
    value: '<file>',
    description: 'the file that stores all worlds: read at the start if it exists, written at the stop',
    defaultText: 'nowhere',
  }),
  stateEvery: readWith(everySoOften, 'a duration such as 30s, or off').prefault('off').register(explain, {
    env: 'SANDBOX_STATE_EVERY',
    value: '<time>',
    description: 'how often the state is also written while requests arrive, or off',
  }),
  metrics: z.enum(['on', 'off']).default('off').register(explain, {
    env: 'SANDBOX_METRICS',
    value: '<on or off>',
    description: 'whether GET /_sandbox/metrics serves Prometheus metrics',
  }),
  adminToken: z
    .string(expects('a text of 16 visible ASCII characters or more'))
    .regex(/^[\x21-\x7e]{16,256}$/, expects('a text of 16 visible ASCII characters or more'))
    .refine(
      (token) => !token.startsWith('sk_test_'),
      expects('a text that does not begin with sk_test_, since keys do'),
    )
    .optional()
    .register(explain, {
      env: 'SANDBOX_ADMIN_TOKEN',
      value: '<token>',
      description: 'the token for GET and DELETE /_sandbox/worlds, 16 characters or more',
      defaultText: 'generated and printed at the start',
    }),
});

/** The parsed settings: numbers, INR, milliseconds. */
export type Settings = z.infer<typeof SettingsSchema>;
export type SettingName = keyof Settings;

/** Settings as the library accepts them: each is optional, as text or as its own type. */
export type SettingsInput = z.input<typeof SettingsSchema>;

interface Setting extends Explained {
  readonly name: SettingName;
  /** `--opening-balance` */
  readonly flag: string;
  readonly defaultText: string;
}

function settingOf(name: SettingName): Setting {
  const schema = SettingsSchema.shape[name];
  const explained = explain.get(schema);
  if (explained === undefined) throw new Error(`the setting ${name} is not explained`);
  const { defaultValue } = schema.def as { readonly defaultValue?: unknown };
  return {
    ...explained,
    name,
    flag: `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    defaultText: explained.defaultText ?? String(defaultValue),
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

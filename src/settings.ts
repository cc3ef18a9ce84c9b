import { z } from 'zod';
import { wholeNumber, type ScenarioInput } from './contract/control.ts';
import { durationMs, ClockSpeed, instantMs } from './contract/times.ts';
import { RateLimit, SETTLEMENTS } from './contract/scenario-document.ts';
import { isWholePaise, MAX_AMOUNT_INR, MAX_SEED_LENGTH } from './contract/service.ts';
import { writtenInr } from './contract/words.ts';
import { READ_ONCE } from './contract/shape-issues.ts';
import { suggestion } from './contract/suggestion.ts';
import { UsageError } from './contract/usage-error.ts';

// Parsers of settings. Each returns undefined for a text that it cannot parse.

const listOf =
  (form: RegExp) =>
  (text: string): readonly string[] | undefined => {
    const items = text.split(',').map((item) => item.trim());
    return items.every((item) => form.test(item)) ? items : undefined;
  };

/** A key, or `sk_test_red_*` for all keys that begin so. */
const keys = listOf(/^(?:(?!.*["';|*])[!-~]{1,256}|sk_[\w.~+/=-]{1,252}\*)$/);

/** Whether a key is one of a list: itself, or one that begins so. */
const isKey = (listed: string, key: string): boolean =>
  listed.endsWith('*') ? key.startsWith(listed.slice(0, -1)) : key === listed;

const hostNames = listOf(/^[a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?$/);

const rupees = (text: string): number | undefined => {
  const amount = writtenInr(text);
  return amount !== undefined && amount <= MAX_AMOUNT_INR && isWholePaise(amount) ? amount : undefined;
};

const duration = (text: string): number | undefined => durationMs(text) || undefined;

const everySoOften = (text: string): number | 'off' | undefined => (text === 'off' ? 'off' : duration(text));

/** `redis://` or `rediss://` with a database or without one, or `redis+cluster://` with one or more hosts. */
const storeAddress = (text: string): string | undefined => {
  if (/^rediss?:\/\/[^/?#]+(?:\/\d*)?$/.test(text)) return URL.canParse(text) ? text : undefined;
  return /^redis\+cluster:\/\/(?:[^@/?#\s]*@)?[^@/,?#\s]+(?:,[^@/,?#\s]+)*\/?$/.test(text) ? text : undefined;
};

/** null for wall time */
const startingClock = (text: string): number | null | undefined => {
  if (text === 'running') return null;
  const atMs = instantMs(text);
  return atMs !== undefined && atMs >= Date.UTC(2000, 0, 1) ? atMs : undefined;
};

const speed = (text: string): number | undefined =>
  /^\d{1,5}(\.\d{1,9})?$/.test(text) ? ClockSpeed.safeParse(Number(text), READ_ONCE).data : undefined;

const expects = (what: string) => ({ error: `must be ${what}` });

/** Parses a text with `read`, which returns undefined for a text that it cannot parse. */
const readWith = <T, Written = string | number>(read: (text: string) => T | undefined, what: string) =>
  z.custom<Written>().transform((value, context) => {
    const text = value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : value;
    const isWritten = typeof text === 'string' || typeof text === 'number';
    const result = isWritten ? read(String(text).trim()) : undefined;
    if (result !== undefined) return result;
    context.issues.push({ code: 'custom', message: `must be ${what}`, input: value });
    return z.NEVER;
  });

const onOrOff = z.enum(['on', 'off']);
const nonEmpty = (what: string) => z.string(expects(what)).min(1);

/** Every setting: its shape and its default. Its flag and its environment variable follow from its name. */
const SettingsSchema = z.object({
  port: wholeNumber(0, 65_535).default(3000),
  host: readWith(
    (text) => text.replace(/^\[(.+)\]$/, '$1') || undefined,
    'an address or a host name',
  ).prefault('127.0.0.1'),
  allowedHosts: readWith(
    (text) => hostNames(text.toLowerCase()),
    'host names, separated by commas',
  ).optional(),
  logLevel: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  apiKeys: readWith(
    keys,
    'keys of at most 256 visible ASCII characters without quotes, separated by commas; sk_test_red_* for every key with that prefix',
  ).optional(),
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
  scenarios: nonEmpty('a folder').optional(),
  dialect: nonEmpty('the name of a dialect or the path of a file').optional(),
  magic: onOrOff.default('on'),
  rateLimit: readWith(
    (text) => RateLimit.safeParse(text, READ_ONCE).data,
    'a count per time of at most a day, such as 100/1s, or off',
  ).prefault('100/1s'),
  seed: readWith(
    (text) => (text.length <= MAX_SEED_LENGTH && text) || undefined,
    `a text of 1 to ${MAX_SEED_LENGTH} characters, or a number`,
  ).prefault('1'),
  clock: readWith<number | null, string | number | Date>(
    startingClock,
    'running, or an ISO 8601 time from the year 2000 on, such as 2026-01-15T10:30:00Z or 2026-01-15T16:00:00+05:30',
  ).prefault('running'),
  clockSpeed: readWith(speed, 'a number from 0 to 86400').optional(),
  maxTransactions: wholeNumber(1, 1_000_000_000).prefault(1_000_000),
  maxWorlds: wholeNumber(1, 10_000_000).prefault(10_000),
  maxConnections: wholeNumber(1, 1_000_000).prefault(4000),
  maxMemory: wholeNumber(10, 95).default(85),
  worldIdle: readWith(duration, 'a duration such as 90s, 12h or 1d').prefault('1d'),
  journalEntries: wholeNumber(0, 1_000_000).optional(),
  journalTotal: wholeNumber(1, 1_000_000_000).prefault(200_000),
  maxRules: wholeNumber(1, 1_000_000_000).prefault(50_000),
  state: nonEmpty('a file').optional(),
  stateEvery: readWith(everySoOften, 'a duration such as 30s, or off').prefault('off'),
  store: readWith(
    storeAddress,
    'an address that begins with redis://, rediss:// or redis+cluster://, with nothing after the host but the number of a database (in a password, write / as %2F, ? as %3F and # as %23)',
  ).optional(),
  tls: z.literal('self-signed', expects('self-signed')).optional(),
  tlsCert: nonEmpty('a file').optional(),
  tlsKey: nonEmpty('a file').optional(),
  metrics: onOrOff.default('off'),
  adminToken: readWith(
    (text) => (/^(?!sk_test_)[\x21-\x7e]{16,256}$/.test(text) ? text : undefined),
    'a text of 16 to 256 visible ASCII characters that does not begin with sk_test_, since keys do',
  ).optional(),
});

/** The parsed settings: numbers, INR, milliseconds. */
export type Settings = z.infer<typeof SettingsSchema>;
export type SettingName = keyof Settings;

/** The key whose world answers a status request without one, in a dialect that answers it. */
export const defaultKeyOf = ({ apiKeys: [first = 'sk_test_demo'] = [] }: Settings): string =>
  first.replace('*', 'demo');

/** How many requests the journal of a world has. */
export const journalEntriesOf = ({
  journalEntries,
  store,
}: Pick<Settings, 'journalEntries' | 'store'>): number =>
  journalEntries ?? (store === undefined ? 10_000 : 1000);

/** Settings as the library accepts them: each is optional, as text or as its own type. */
export type SettingsInput = z.input<typeof SettingsSchema>;

/** The `--help` of each setting: the placeholder of its value, and a description. */
const EXPLANATIONS: Readonly<Record<SettingName, readonly [value: string, description: string]>> = {
  port: ['<number>', 'the port to listen on; 0 picks a free one and prints it'],
  host: ['<address>', 'the address to listen on; 0.0.0.0 for all addresses'],
  allowedHosts: [
    '<names>',
    'more host names to serve, besides localhost. On a public address, every host name is accepted until you set this',
  ],
  logLevel: ['<level>', 'fatal, error, warn, info, debug (settlements too), trace or silent'],
  apiKeys: [
    '<keys>',
    'the only keys accepted, separated by commas; sk_test_red_* for every key with that prefix',
  ],
  openingBalance: ['<INR>', 'the balance of a new world'],
  settlement: ['<preset>', `how payouts settle after initiate: ${SETTLEMENTS.join(', ')}`],
  scenario: ['<name or file>', 'how worlds behave; a scenario overrides the other settings'],
  scenarios: [
    '<folder>',
    'a folder of your own scenarios, in addition to the built-in ones; watched for changes',
  ],
  dialect: ['<name or file>', 'the dialect of scenarios that have none of their own'],
  magic: ['<on or off>', 'whether magic beneficiaries force a response'],
  rateLimit: [
    '<n/time>',
    'how many initiates each key may send to one server in a window of wall time, or off',
  ],
  seed: ['<text>', 'the seed of ids, UTRs and random draws'],
  clock: [
    '<time>',
    'running, or the time at which the clock of every new world starts, frozen unless it has a speed (in IST without an offset)',
  ],
  clockSpeed: [
    '<number>',
    'how many seconds pass in each world in a second: 0 is frozen, 1 real time, 3600 an hour',
  ],
  maxTransactions: [
    '<number>',
    'limit on transactions in all worlds together. At the limit, initiate returns 500',
  ],
  maxWorlds: [
    '<number>',
    'limit on worlds. At the limit, a new one replaces the world idle longest (empty worlds first)',
  ],
  maxConnections: [
    '<number>',
    'limit on connections. At the limit, the busiest world loses its oldest idle connection',
  ],
  maxMemory: [
    '<percent>',
    'how much of the heap limit may be in use. Beyond it, journals are cut, then requests get 503 SANDBOX_BUSY',
  ],
  worldIdle: ['<time>', 'a world without requests for this long is dropped'],
  journalEntries: [
    '<number>',
    'how many of its newest requests a world keeps in its journal; 0 for no journal. It drops older ones in batches, so it may briefly hold 1/16 more',
  ],
  journalTotal: [
    '<number>',
    'limit on requests in all journals together. At the limit, the largest lose their older half, and what an undo needs of it',
  ],
  maxRules: [
    '<number>',
    'limit on rules and outcomes, in the overrides of all worlds and in the scenarios that they chose (each counts as one more). At the limit, more are refused',
  ],
  state: ['<file>', 'the file that stores all worlds: read at the start if it exists, written at the stop'],
  stateEvery: ['<time>', 'how often the state is also written while requests arrive, or off'],
  store: ['<address>', 'the Valkey or Redis for worlds that several servers share: redis://host:6379'],
  tls: ['<self-signed>', 'serves HTTPS with a certificate that is made at the start; its path is printed'],
  tlsCert: ['<file>', 'the certificate to serve HTTPS with, and those above it, in PEM'],
  tlsKey: ['<file>', 'the private key of that certificate, in PEM'],
  metrics: ['<on or off>', 'whether GET /_sandbox/metrics serves Prometheus metrics'],
  adminToken: ['<token>', 'the token for the calls about all worlds, 16 characters or more'],
};

/** Defaults that are not values of their settings, as `--help` shows them. */
const DEFAULT_TEXTS: Readonly<Partial<Record<SettingName, string>>> = {
  allowedHosts: 'none',
  apiKeys: 'every key that begins with sk_test_',
  scenario: 'none',
  scenarios: 'none',
  dialect: 'default',
  clockSpeed: '1, or 0 if SANDBOX_CLOCK is a time',
  journalEntries: '10000, or 1000 with a store',
  state: 'not saved',
  store: 'in memory',
  tls: 'HTTP',
  tlsCert: 'none',
  tlsKey: 'none',
  adminToken: 'generated at the start, and shown on a terminal with --verbose',
};

/** Every setting with its names, in the order of `--help`. docs/settings.md lists the same. */
export const SETTINGS = (Object.keys(SettingsSchema.shape) as SettingName[]).map((name) => {
  const { defaultValue } = SettingsSchema.shape[name].def as { readonly defaultValue?: unknown };
  const [value, description] = EXPLANATIONS[name];
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return {
    name,
    flag: `--${words}`,
    env: `SANDBOX_${words.replaceAll('-', '_').toUpperCase()}`,
    value,
    description,
    defaultText: DEFAULT_TEXTS[name] ?? String(defaultValue),
  };
});

/** An invalid setting. The message names its flag, variable or option, or has a line for each problem in a file. */
export class SettingsError extends UsageError {
  override readonly name = 'SettingsError';
}

const SECRETS: ReadonlySet<string> = new Set(['apiKeys', 'adminToken', 'store']); // their values are never shown

type Given = Readonly<Record<string, unknown>>;

/** Settings with one of some words, which may be in any case: LOG_LEVEL=INFO is usual elsewhere. */
const WORDS = ['logLevel', 'settlement', 'magic', 'metrics'] as const satisfies readonly SettingName[];

/** @param calledBy the name of a setting in messages @throws SettingsError with every invalid value, on one line */
function parseSettings(written: Given, calledBy: (setting: (typeof SETTINGS)[number]) => string): Settings {
  const quoted = SETTINGS.find(({ name }) => /^(["'])[^]*\1$/.test(String(written[name])));
  if (quoted !== undefined) {
    throw new SettingsError(
      `${calledBy(quoted)} must be without quotes: a file of variables, as docker run --env-file takes it, keeps them`,
    );
  }
  const given = { ...written };
  for (const name of WORDS) if (typeof given[name] === 'string') given[name] = given[name].toLowerCase();
  const result = SettingsSchema.safeParse(given, READ_ONCE);
  if (result.success) {
    const { state, store, apiKeys, adminToken } = result.data;
    const named = (wanted: SettingName): string => calledBy(SETTINGS.find(({ name }) => name === wanted)!);
    if (state !== undefined && store !== undefined) {
      const both = `${named('state')} and ${named('store')}`;
      throw new SettingsError(`${both} cannot be used together: a store already keeps all worlds`);
    }
    if (adminToken !== undefined && apiKeys?.some((key) => isKey(key, adminToken))) {
      throw new SettingsError(`${named('adminToken')} must not be one of ${named('apiKeys')}`);
    }
    return result.data;
  }
  const complaints = SETTINGS.flatMap((setting) => {
    const { name } = setting;
    const issue = result.error.issues.find(({ path }) => path[0] === name);
    if (issue === undefined) return [];
    const message =
      issue.code === 'invalid_value' ? `must be one of ${issue.values.join(', ')}` : issue.message;
    const shown = given[name] instanceof Date ? 'a Date' : JSON.stringify(given[name]);
    return [`${calledBy(setting)} ${message}${SECRETS.has(name) ? '' : `, not ${shown}`}`];
  });
  throw new SettingsError(complaints.join('; '));
}

const PORT = 'SANDBOX_PORT';

/**
 * Reads the settings of the program: a flag, otherwise its environment variable unless that is empty, otherwise the default.
 *
 * @param flags by setting name
 * @param isServed whether PORT counts, too, as hosting platforms set it
 * @throws SettingsError with every invalid value, on one line
 */
export function readSettings(flags: Given, environment: Given, isServed = false): Settings {
  const valueOf = (variable: string): unknown => {
    const value = environment[variable];
    // Kubernetes sets SANDBOX_PORT=tcp://… for a service that is called sandbox
    const isUnset =
      value === '' || (variable === PORT && typeof value === 'string' && value.startsWith('tcp://'));
    return isUnset ? undefined : value;
  };
  const variableOf = ({ env }: (typeof SETTINGS)[number]): string =>
    isServed && env === PORT && valueOf(PORT) === undefined && environment['PORT'] ? 'PORT' : env;
  const given: Record<string, unknown> = {};
  for (const setting of SETTINGS) given[setting.name] = flags[setting.name] ?? valueOf(variableOf(setting));
  return parseSettings(given, (setting) =>
    flags[setting.name] === undefined ? variableOf(setting) : setting.flag,
  );
}

/** Reads the settings as the library takes them. @throws SettingsError that names options */
export function readOptions(options: Given): Settings {
  const names = Object.keys(SettingsSchema.shape);
  const unknown = Object.keys(options).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    const listed = unknown.map((name) => name + suggestion(name, names)).join(', ');
    throw new SettingsError(`there is no option ${listed}`);
  }
  const given = Object.entries(options).filter(([, value]) => value !== null);
  return parseSettings(Object.fromEntries(given), ({ name }) => name);
}

import dns from 'node:dns';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { durationMs, durationText } from '../../src/contract/times.ts';
import { readOptions, readSettings, SETTINGS, SettingsError, type SettingName } from '../../src/settings.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const settingNamed = (name: SettingName) => SETTINGS.find((setting) => setting.name === name)!;

/** The message with which these settings are refused. */
function refusalOf(flags: Record<string, unknown>, environment: Record<string, unknown>): string {
  try {
    readSettings(flags, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    return (error as Error).message;
  }
  return expect.fail('the setting was accepted');
}

type Good = readonly [text: string, value: unknown];

/** Values that are the text itself. */
const asWritten = (...texts: readonly string[]): readonly Good[] => texts.map((text) => [text, text]);
const numbers = (...values: readonly number[]): readonly Good[] =>
  values.map((value) => [String(value), value]);

/** What each setting accepts, the least and the most of a number, and what is read from it. */
const GOOD: Readonly<Record<SettingName, readonly Good[]>> = {
  port: numbers(0, 65_535),
  host: [
    ['::1', '::1'],
    ['[::1]', '::1'],
  ],
  allowedHosts: [
    ['payouts', ['payouts']],
    [' Payouts.Example.test , host.docker.internal', ['payouts.example.test', 'host.docker.internal']],
  ],
  logLevel: [...asWritten('silent', 'trace'), ['INFO', 'info']],
  apiKeys: [[' one , t!w@o#, sk_test_red_* ', ['one', 't!w@o#', 'sk_test_red_*']]],
  openingBalance: [
    ['0', 0],
    ['4.35', 4.35],
    ['₹1,00,000', 100_000],
    ['99999999999.99', 99_999_999_999.99],
    ['100000000000', 1e11],
  ],
  settlement: asWritten('instant', 'manual'),
  scenario: asWritten('happy-fast', './mine.yaml'),
  scenarios: asWritten('./mine', '/scenarios'),
  dialect: asWritten('strict', './real.yaml'),
  magic: asWritten('off', 'on'),
  rateLimit: [
    ['off', 'off'],
    ['20/1d', { max: 20, windowMs: 86_400_000 }],
    ['1/PT90S', { max: 1, windowMs: 90_000 }],
  ],
  seed: asWritten('7', 'any text'),
  clock: [
    ['2026-01-15T10:30:00.250Z', Date.UTC(2026, 0, 15, 10, 30, 0, 250)],
    ['2026-01-15T16:00', Date.UTC(2026, 0, 15, 10, 30)],
    ['2026-01-15 16:00:00 IST', Date.UTC(2026, 0, 15, 10, 30)],
    ['2026-01-15', Date.UTC(2026, 0, 14, 18, 30)],
    ['running', null],
  ],
  clockSpeed: [...numbers(0, 86_400), ['0.5', 0.5]],
  maxTransactions: numbers(1, 1e9),
  maxWorlds: numbers(1, 1e7),
  maxConnections: numbers(1, 1e6),
  maxMemory: numbers(10, 95),
  worldIdle: [
    ['PT2H', 7_200_000],
    ['1ms', 1],
  ],
  journalEntries: numbers(0, 1e6),
  journalTotal: [['1000', 1000]],
  maxRules: numbers(1, 1e9),
  state: asWritten('./sandbox.state', '/var/lib/sandbox'),
  stateEvery: [
    ['30s', 30_000],
    ['off', 'off'],
  ],
  store: [
    ['redis://localhost', 'redis://localhost'],
    [' rediss://me:secret@store.example.test:6380/2 ', 'rediss://me:secret@store.example.test:6380/2'],
    ['redis+cluster://me:secret@one:6379,two:6379', 'redis+cluster://me:secret@one:6379,two:6379'],
  ],
  tls: asWritten('self-signed'),
  tlsCert: asWritten('./cert.pem'),
  tlsKey: asWritten('./key.pem'),
  metrics: asWritten('on', 'off'),
  adminToken: asWritten('0123456789abcdef', 'a-very-long-token!'),
};
const NAMES = Object.keys(GOOD) as SettingName[];

testRows(NAMES)(
  'every setting is read from its flag, else from its variable, and otherwise has its default',
  (name) => {
    const { env } = settingNamed(name);
    const read = (flag: string | undefined, variable: string): unknown =>
      readSettings({ [name]: flag }, { [env]: variable })[name];
    const [[other]] = GOOD[name] as [Good];
    for (const [text, value] of GOOD[name]) {
      expect(read(text, other)).toEqual(value);
      expect(read(undefined, text)).toEqual(value);
    }
    expect(read(undefined, '')).toEqual(readSettings({}, {})[name]); // an empty variable is not set
  },
);

/** The defaults that are documented in words. */
const DEFAULTS: Partial<Record<SettingName, unknown>> = {
  adminToken: undefined,
  allowedHosts: undefined,
  apiKeys: undefined,
  clockSpeed: undefined,
  dialect: undefined,
  journalEntries: undefined,
  scenario: undefined,
  scenarios: undefined,
  state: undefined,
  store: undefined,
  tls: undefined,
  tlsCert: undefined,
  tlsKey: undefined,
};

testRows(SETTINGS)('every documented default is the actual default', ({ name, defaultText }) => {
  const documented = name in DEFAULTS ? DEFAULTS[name] : readSettings({ [name]: defaultText }, {})[name];
  expect(readSettings({}, {})[name]).toEqual(documented);
});

test('a state file and a store exclude each other, as do the admin token and the keys', () => {
  const store = 'redis://localhost';
  expect(refusalOf({ state: 'worlds' }, { SANDBOX_STORE: store })).toMatch(
    /^--state and SANDBOX_STORE cannot be used together/,
  );
  expect(() => readOptions({ state: 'worlds', store })).toThrow(/^state and store cannot be used together/);
  const token = 'a-key-that-is-a-token';
  expect(() => readOptions({ adminToken: token, apiKeys: `one,${token}` })).toThrow(
    'adminToken must not be one of apiKeys',
  );
});

testRows([
  'localhost',
  'redis://',
  'redis://localhost/abc',
  'redis+cluster://a b',
  'redis://localhost?password=secret',
])('a wrong address of a store is refused without repeating it, since it may hold a password', (store) => {
  expect(() => readSettings({ store }, {})).toThrow(
    /^--store must be an address that begins with redis:\/\/, rediss:\/\/ or redis\+cluster:\/\/, with nothing after the host but the number of a database \(in a password, write \/ as %2F, \? as %3F and # as %23\)$/,
  );
});

test('the library accepts numbers', () => {
  const settings = readOptions({ port: 0, openingBalance: 1000.5, seed: 7, maxWorlds: 2 });
  expect(settings).toMatchObject({ port: 0, openingBalance: 1000.5, seed: '7', maxWorlds: 2 });
});

test('an error of the library names options, not flags, and lists all invalid ones', () => {
  expect(() => readOptions({ port: 'x', maxWorlds: 0 })).toThrow(
    /^port must be a whole number from 0 to 65535, not "x"; maxWorlds must be .*, not 0$/,
  );
  expect(() => readOptions({ prot: 1 })).toThrow('there is no option prot (did you mean port?)');
  expect(() => readOptions({ clock: new Date(0) })).toThrow(/^clock must be running, or .*, not a Date$/);
  expect(readOptions({ clock: new Date(NOON) }).clock).toBe(NOON);
});

const NOON = Date.UTC(2026, 0, 15, 6, 30);

const A_PORT = 'must be a whole number from 0 to 65535';
const HOST_NAMES = 'must be host names, separated by commas';
const AN_AMOUNT = 'must be an amount in INR from 0 to 100000000000 with at most 2 decimals';
const A_LIMIT = 'must be a count per time of at most a day, such as 100/1s, or off';
const A_TIME =
  'must be running, or an ISO 8601 time from the year 2000 on, such as 2026-01-15T10:30:00Z or 2026-01-15T16:00:00+05:30';
const A_DURATION = 'must be a duration such as 90s, 12h or 1d';

testRows<[SettingName, string, string]>([
  ['port', '65536', A_PORT],
  ['allowedHosts', 'payouts:3000', HOST_NAMES],
  ['logLevel', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent'],
  ['openingBalance', '100000000000.01', AN_AMOUNT],
  ['seed', 's'.repeat(129), 'must be a text of 1 to 128 characters, or a number'],
  ['settlement', 'fast', 'must be one of demo, instant, realistic, manual'],
  ['magic', 'maybe', 'must be one of on, off'],
  ['rateLimit', '100/2d', A_LIMIT],
  ['clock', 'yesterday', A_TIME],
  ['maxWorlds', '0', 'must be a whole number from 1 to 10000000'],
  ['worldIdle', '0s', A_DURATION],
])(
  'an invalid value is refused in one line with its flag or variable and the expected form',
  (name, text, right) => {
    const { flag, env } = settingNamed(name);
    const given = JSON.stringify(text);
    expect(refusalOf({ [name]: text }, {})).toBe(`${flag} ${right}, not ${given}`);
    expect(refusalOf({}, { [env]: text })).toBe(`${env} ${right}, not ${given}`);
  },
);

testRows([
  ['host', '--host must be an address or a host name, not ""'],
  ['seed', '--seed must be a text of 1 to 128 characters, or a number, not ""'],
])('an empty flag is refused', (name, message) => {
  expect(refusalOf({ [name]: '' }, { SANDBOX_PORT: '1', SANDBOX_HOST: 'localhost', SANDBOX_SEED: '7' })).toBe(
    message,
  );
});

testRows(['too-short', 'a token with spaces in it', 'sk_test_the_token_of_the_admin'])(
  'an admin token that is short, has a space or begins like a key is refused, and not shown',
  (token) => {
    const message = refusalOf({}, { SANDBOX_ADMIN_TOKEN: token });
    expect(message).toMatch(/^SANDBOX_ADMIN_TOKEN must be [^\n]+$/);
    expect(message).not.toContain(token);
  },
);

testRows([
  ['a key with a space in it', 'secret one,secret'],
  ['a key that is not ASCII', 'secret,sécret'],
  ['a key that is too long', `secret,${'s'.repeat(257)}`],
  ['a quote', 'secret,"secret'],
  ['another separator', 'secret;secret2'],
  ['a star alone', 'secret,*'],
])('malformed API keys are refused without showing any key', (_what, keys) => {
  const right =
    'must be keys of at most 256 visible ASCII characters without quotes, separated by commas; sk_test_red_* for every key with that prefix';
  expect(refusalOf({}, { SANDBOX_API_KEYS: keys })).toBe(`SANDBOX_API_KEYS ${right}`);
  expect(refusalOf({ apiKeys: keys }, {})).toBe(`--api-keys ${right}`);
});

test('of the names without a prefix only PORT counts, and only where the sandbox is served', () => {
  const others = { PORT: '1', HOST: 'x86_64-conda-linux-gnu', LOG_LEVEL: 'notice' };
  const port = (environment: object, isServed: boolean) =>
    readSettings({}, { ...others, ...environment }, isServed).port;
  expect(port({}, true)).toBe(1);
  expect(port({}, false)).toBe(3000);
  expect(port({ SANDBOX_PORT: '2' }, true)).toBe(2);
  expect(port({ SANDBOX_PORT: 'tcp://10.0.0.1:3000' }, true)).toBe(1);
  expect(() => readSettings({}, { PORT: 'x' }, true)).toThrow(/^PORT must be /);
});

testRows(['"sk_test_a,sk_test_b"', "'sk_test_a'"])(
  'quotes that a file of variables has left around a value are refused',
  (keys) =>
    expect(refusalOf({}, { SANDBOX_API_KEYS: keys })).toMatch(/^SANDBOX_API_KEYS must be without quotes: /),
);

test('localhost listens on 127.0.0.1 only, without a DNS lookup', async () => {
  const lookup = vi.spyOn(dns, 'lookup');
  onTestFinished(() => lookup.mockRestore());
  const { url } = await sandboxFor({ host: 'localhost' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(lookup.mock.calls.map(([name]) => name)).not.toContain('localhost');
});

testRows([
  ['0s', 0],
  ['1.5s', 1500],
  ['3d', 259_200_000],
  ['1w', 604_800_000],
  ['2h 30m', 9_000_000],
  ['2 hours 30 mins', 9_000_000],
  ['PT0.25S', 250],
  ['P1W2DT3H4M5S', 788_645_000],
])('durations are read as they are written by people and in ISO 8601', (text, ms) => {
  expect(durationMs(text)).toBe(ms);
});

testRows(['', '90', '.5s', '1s 2s', '1y', 'P1M', '9'.repeat(20) + 'w'])(
  'any other text is not a duration',
  (text) => {
    expect(durationMs(text)).toBeUndefined();
  },
);

testRows([
  [1001, '1001ms'],
  [90_000, '90s'],
  [5_400_000, '90m'],
  [129_600_000, '36h'],
])('a duration is written in the largest unit without a fraction', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test('every duration is read back as it was written', () => {
  const anyMs = fc.oneof(
    fc.nat({ max: 3_650_000 * 86_400_000 }), // the longest
    fc
      .tuple(fc.nat(5000), fc.constantFrom(1, 1000, 60_000, 3_600_000, 86_400_000))
      .map(([n, unit]) => n * unit),
  );
  fc.assert(
    fc.property(anyMs, (ms) => {
      expect(durationMs(durationText(ms))).toBe(ms);
    }),
  );
});

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../src/settings.ts';
import { ask, runProgram, startProgram } from './support/program.ts';

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');

test('--help lists every setting with its flag, its variable and its default', async () => {
  const { code, stdout, stderr } = await runProgram(['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const help = stdout.replaceAll(/\s+/g, ' ');
  for (const { flag, value, description, env, defaultText } of SETTINGS) {
    expect(help).toContain(` ${flag} ${value} ${description} [${env}; default ${defaultText}] `);
  }
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await runProgram(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

test.each([
  ['an unknown flag', ['--prot', '1'], "unknown option '--prot' (Did you mean --port?) (see --help)"],
  ['an unknown flag like no other', ['--xyz'], "unknown option '--xyz' (see --help)"],
  ['a short flag', ['-p', '1'], "unknown option '-p' (see --help)"],
  ['a flag without its value', ['--seed'], "option '--seed <text>' argument missing (see --help)"],
  [
    'a word that is no command',
    ['vaildate'],
    'there is no command vaildate (did you mean validate?): without one, the sandbox is served (see --help)',
  ],
  ['a wrong flag', ['--port', '65536'], '--port must be a whole number from 0 to 65535, not "65536"'],
  ['an unknown flag with a key in it', ['--api-key=sk_secret'], "unknown option '--api-key' (see --help)"],
])('%s ends it with exit code 2 and one line', async (_what, args, complaint) => {
  expect(await runProgram(args)).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: `payout-sandbox: ${complaint}\n`,
  });
});

test('wrong variables end it with exit code 2 and one line about all of them', async () => {
  const wrong = { PORT: 'abc', SANDBOX_API_KEYS: 'sk_sécret', SANDBOX_CLOCK: 'now\n' };
  expect(await runProgram(['--clock', 'yesterday'], wrong)).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr:
      'payout-sandbox: PORT must be a whole number from 0 to 65535, not "abc"; ' +
      'SANDBOX_API_KEYS must be keys of visible ASCII characters, separated by commas; ' +
      '--clock must be running, or an ISO 8601 time in UTC from the year 2000 on, such as 2026-01-15T10:30:00Z, not "yesterday"\n',
  });
});

test('a port in use ends it with exit code 2 and one line that says what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await runProgram([], { PORT: String(port) })).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: `payout-sandbox: 127.0.0.1:${port} is already in use: choose another port with --port (0 picks a free one)\n`,
  });
});

test.each([
  ['an address of another machine', '192.0.2.1', /^payout-sandbox: 192\.0\.2\.1:0 .+\n$/],
  ['an address that lacks its zone', 'fe80::1', /^payout-sandbox: \[fe80::1\]:0 .+\n$/],
])('%s ends it with exit code 2 and one line', async (_what, host, complaint) => {
  expect(await runProgram(['--host', host])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(complaint),
  });
});

test('port 0 picks a free port and says which, so that two sandboxes run side by side', async () => {
  const [one, other] = await Promise.all([startProgram(), startProgram()]);
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(other.url).not.toBe(one.url);
  for (const { url } of [one, other]) {
    expect((await ask(`${url}/client/fetchbalance`, 'sk_test_a')).status).toBe(200);
  }
});

test('flags go before the environment in the program too', async () => {
  const { url, ready } = await startProgram(
    { SANDBOX_OPENING_BALANCE: '1', SANDBOX_SETTLEMENT: 'manual', LOG_LEVEL: '' },
    ['--opening-balance', '70.5'],
  );
  expect(ready).toMatchObject({ settlement: 'manual' });
  const balance = await ask(`${url}/client/fetchbalance`, 'sk_test_a');
  expect(await balance.json()).toMatchObject({ data: { balance: 70.5 } });
});

test('listening on every address, it names one that works on this machine', async () => {
  const { url } = await startProgram({ HOST: '0.0.0.0' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await ask(`${url}/client/fetchbalance`, 'sk_test_a')).status).toBe(200);
});

test('an IPv6 address stands in brackets, also where the machine has none', async () => {
  const said = hasIpv6
    ? (await startProgram({ HOST: '::1' })).url
    : (await runProgram([], { HOST: '::1' })).stderr;
  expect(said).toMatch(hasIpv6 ? /^http:\/\/\[::1\]:[1-9]\d*$/ : /^payout-sandbox: \[::1\]:0 .+\n$/);
});

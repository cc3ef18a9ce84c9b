import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../src/settings.ts';
import {
  ask,
  hasTerminal,
  MAIN,
  onTerminal,
  Program,
  runInProcess,
  runProgram,
  serveInProcess,
  startProgram,
} from '../support/program.ts';
import { testRows } from '../support/test-rows.ts';

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');

test('--help fits one screen', async () => {
  const { stdout } = await runInProcess(['--help']);
  const lines = stdout.split('\n');
  expect(lines.length).toBeLessThanOrEqual(48);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

test('serve --help lists every setting with its flag, its variable and its default', async () => {
  const { code, stdout, stderr } = await runInProcess(['serve', '--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const help = stdout.replaceAll(/\s+/g, ' ');
  for (const { flag, value, description, env, defaultText } of SETTINGS) {
    expect(help).toContain(` ${flag} ${value} ${description} [${env}; default ${defaultText}] `);
  }
});

test.each([['serve'], ['validate'], ['scenarios'], ['schema'], ['health']])(
  '%s --help shows its usage, and --help lists the command',
  async (command) => {
    const own = await runInProcess([command, '--help']);
    const all = await runInProcess(['--help']);
    expect(own).toMatchObject({ code: 0, stderr: '' });
    expect(own.stdout).toMatch(new RegExp(`^Usage: payout-sandbox ${command} `));
    expect(all.stdout).toMatch(new RegExp(`^  ${command} .*\\w`, 'm'));
  },
);

test('validate reads a pipe, which can be read only once', async () => {
  const neverReached =
    '{ rules: [{ name: a, effect: { fault: hang } }, { name: b, effect: { fault: hang } }] }';
  const piped = 'echo "$0" | "$1" "$2" validate /dev/stdin';
  const program = new Program('sh', ['-c', piped, neverReached, process.execPath, MAIN], {});
  const { code, stdout } = await program.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\/dev\/stdin:1: warning: rules\[1\] never applies: .*\n.*: ok, 2 rules\n$/);
});

test('--help and serve --help show examples and explain each exit code', async () => {
  for (const args of [['--help'], ['serve', '--help']]) {
    const { stdout } = await runInProcess(args);
    expect(stdout).toContain(' timeout-after-commit ');
    expect(stdout).toMatch(/Exit codes:\n {2}0 {2}done, or stopped by a signal\n {2}1 .*\n {2}2 /);
  }
});

test('-h, help, -v and -V are short for --help and --version', async () => {
  const output = async (...args: string[]) => (await runInProcess(args)).stdout;
  expect(await output('-h')).toBe(await output('--help'));
  expect(await output('help')).toBe(await output('--help'));
  expect(await output('help', 'hunt')).toBe(await output('hunt', '--help'));
  expect(await output('help', 'rule', 'add')).toBe(await output('rule', 'add', '--help'));
  expect(await output('help', 'unfreeze')).toBe(await output('resume', '--help'));
  expect(await output('-v')).toBe(await output('--version'));
  expect(await output('-V')).toBe(await output('--version'));
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await runProgram(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

testRows([
  ['an unknown flag', ['--prot', '1'], "unknown option '--prot' (Did you mean --port?) (see --help)"],
  ['an unknown flag without a similar one', ['--xyz'], "unknown option '--xyz' (see --help)"],
  ['a short flag', ['-p', '1'], "unknown option '-p' (see --help)"],
  ['a flag without its value', ['--seed'], "option '--seed <text>' argument missing (see --help)"],
  [
    'an unknown command',
    ['vaildate'],
    'there is no command vaildate (did you mean validate?); payout-sandbox --help lists the commands',
  ],
  [
    'an invalid value of a flag',
    ['--port', '65536'],
    '--port must be a whole number from 0 to 65535, not "65536"',
  ],
  [
    'a misspelt flag of serve',
    ['serve', '--sede', '1'],
    "unknown option '--sede' (Did you mean --seed?) (see --help)",
  ],
  [
    'an extra argument',
    ['serve', 'fast'],
    "too many arguments for 'serve'. Expected 0 arguments but got 1. (see --help)",
  ],
  [
    'health with port 0',
    ['health'],
    'port 0 is not a port to connect to: give the port with --port, or the address with --url',
  ],
  [
    'health with an invalid address',
    ['health', '--url', 'localhost:3000'],
    '--url must begin with http:// or https://, not "localhost:3000"',
  ],
  [
    'health with a port that no server has',
    ['health', '--url', 'http://127.0.0.1:99999'],
    '--url must have a host, and a port of at most 65535, not "http://127.0.0.1:99999"',
  ],
  [
    'scenarios with a missing folder',
    ['scenarios', '--scenarios', '/nowhere'],
    '/nowhere cannot be read: it must be a folder of scenario files',
  ],
  [
    'a dialect with another ending',
    ['--dialect', 'LICENSE'],
    'LICENSE is a file of another type: a dialect is a file that ends in .yaml, .yml or .json, or one of default, lenient, strict, terse',
  ],
  [
    'help for a command of a group that is none',
    ['help', 'rule', 'ad'],
    'rule takes one of list, add, remove, from, not ad (did you mean add?) (see rule --help)',
  ],
  ['help for more than a command', ['help', 'hunt', 'now'], 'there is no command hunt now (see hunt --help)'],
  [
    'help for no command',
    ['help', 'hunted'],
    'there is no command hunted (did you mean hunt?); payout-sandbox --help lists the commands',
  ],
  ['a flag of serve before a command without it', ['--seed', '1', 'status'], 'status has no flag --seed'],
  [
    'a scenario as the only word that is not there',
    ['/nowhere/my.yaml'],
    '/nowhere/my.yaml cannot be read (ENOENT)',
  ],
  [
    'two scenarios',
    ['my.yaml', 'other.yaml'],
    'only one scenario can be served, not both my.yaml and other.yaml',
  ],
  [
    'a scenario by word and by flag',
    ['my.yaml', '--scenario', 'strict'],
    'only one scenario can be served, not both my.yaml and --scenario',
  ],
  [
    'validate with a clock and no request to explain',
    ['validate', 'my.yaml', '--clock', 'running'],
    '--clock does nothing without --explain',
  ],
  [
    'health with an address and a port',
    ['health', '--url', 'http://127.0.0.1:9', '--port', '9'],
    '--port does nothing with --url',
  ],
  [
    'how often to write a state that is written nowhere',
    ['--state-every', '1m'],
    '--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)',
  ],
  ['an unknown flag with a key in it', ['--api-key=sk_secret'], "unknown option '--api-key' (see --help)"],
])(
  'what is wrong on the command line stops the program with exit code 2 and one line',
  async (_what, args, complaint) => {
    expect(await runInProcess(args)).toEqual({
      code: 2,
      signal: null,
      stdout: '',
      stderr: `payout-sandbox: ${complaint}\n`,
    });
  },
);

test('`payout-sandbox FILE` serves the scenario of the file', async () => {
  const { ready } = await startProgram({}, ['fixtures/init/scenarios/lost-response.yaml']);
  expect(ready).toMatchObject({ scenario: 'lost-response' });
});

test('an unknown variable that looks like a setting causes a warning that suggests the nearest name', async () => {
  const warning = (name: string, hint = '') =>
    `payout-sandbox: warning: ${name} is not a setting and is ignored${hint}\n`;
  const variables = {
    SANDBOX_SEEED: '1',
    SANDBOX_PORT: '3000',
    SANDBOX_PRT: '3000',
    SANDBOX_COLOUR: 'red',
    SANDBOX_KEY: 'sk_test_a',
    SANDBOX_SERVICE_HOST: '10.0.0.1', // Kubernetes sets these for a service that is called sandbox
    SANDBOX_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
  };
  const { code, stderr } = await runInProcess(['schema'], variables);
  expect(code).toBe(0);
  expect(stderr).toBe(
    warning('SANDBOX_SEEED', ' (did you mean SANDBOX_SEED?)') +
      warning('SANDBOX_PORT', ' (did you mean PORT?)') +
      warning('SANDBOX_PRT', ' (did you mean PORT?)') +
      warning('SANDBOX_COLOUR'),
  );
});

test('a folder where a scenario file is expected stops the program with exit code 2 and a message that says so', async () => {
  expect(await runInProcess(['--scenario', 'fixtures'])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(
      /^payout-sandbox: fixtures is a folder: a scenario is a file .*happy-fast.*\n$/,
    ),
  });
});

test('invalid variables stop the program with exit code 2 and one line about all of them', async () => {
  const wrong = { PORT: 'abc', SANDBOX_API_KEYS: 'sk_sécret', SANDBOX_CLOCK: 'now\n' };
  expect(await runProgram(['--clock', 'yesterday'], wrong)).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr:
      'payout-sandbox: PORT must be a whole number from 0 to 65535, not "abc"; ' +
      'SANDBOX_API_KEYS must be keys of visible ASCII characters, separated by commas; ' +
      '--clock must be running, or an ISO 8601 time from the year 2000 on, such as 2026-01-15T10:30:00Z or 2026-01-15T16:00:00+05:30, not "yesterday"\n',
  });
});

test('a port in use stops the program with exit code 2 and one line that suggests another port', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await runInProcess([], { PORT: String(port) })).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: `payout-sandbox: 127.0.0.1:${port} is already in use: choose another port with --port (0 picks a free one)\n`,
  });
});

testRows([
  ['an address of another machine', '192.0.2.1', /^payout-sandbox: 192\.0\.2\.1:0 .+\n$/],
  ['an address without its zone', 'fe80::1', /^payout-sandbox: \[fe80::1\]:0 .+\n$/],
])(
  'an address that cannot be listened on stops the program with exit code 2 and one line',
  async (_what, host, complaint) => {
    expect(await runInProcess(['--host', host])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(complaint),
    });
  },
);

test('port 0 picks a free port and logs it, so that two sandboxes can run side by side', async () => {
  const [one, other] = [await startProgram(), await serveInProcess()];
  expect(one.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  expect(other.url).not.toBe(one.url);
  for (const { url } of [one, other]) {
    expect((await ask(`${url}/client/fetchbalance`, 'sk_test_a')).status).toBe(200);
  }
});

test('flags of the program override the environment, and the ready line names the dialect', async () => {
  const { url, ready } = await startProgram(
    { SANDBOX_OPENING_BALANCE: '1', SANDBOX_SETTLEMENT: 'manual', LOG_LEVEL: '' },
    ['--opening-balance', '70.5', '--dialect', 'lenient'],
  );
  expect(ready).toMatchObject({ settlement: 'manual', dialect: 'lenient' });
  const balance = await ask(`${url}/client/fetchbalance`, 'sk_test_a');
  expect(await balance.json()).toMatchObject({ data: { balance: 70.5 } });
});

test('serve accepts the flags of the program, before and after the command', async () => {
  const { ready } = await startProgram({}, ['--settlement', 'manual', 'serve', '--scenario', 'strict']);
  expect(ready).toMatchObject({ settlement: 'manual', scenario: 'strict', msg: 'payout sandbox ready' });
  expect(ready).not.toHaveProperty('dialect');
});

/** A server that answers /_sandbox/health with these statuses, the last one again and again, and everything else with 404. @returns its port */
async function standIn(...statuses: readonly number[]): Promise<string> {
  let asked = 0;
  const server = createHttpServer(({ url }, response) => {
    const status = statuses[Math.min(asked++, statuses.length - 1)]!;
    if (status === 0) response.destroy();
    else response.writeHead(url === '/_sandbox/health' ? status : 404).end('{}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return String((server.address() as AddressInfo).port);
}

/** Client and server are one process here: when it pauses for 3 s, no response has come in time. */
const PATIENTLY = ['--wait', '1m'];

test.each([
  ['by its port flag', (port: string) => [['--port', port], {}] as const],
  ['by its port variable', (port: string) => [[], { PORT: port }] as const],
  ['on every address', (port: string) => [[], { PORT: port, HOST: '0.0.0.0' }] as const],
  ['by its URL', (port: string) => [['--url', `http://127.0.0.1:${port}/`], {}] as const],
])('health prints one line when the sandbox is ready, found %s', async (_how, at) => {
  const port = await standIn(200);
  const [args, environment] = at(port);
  expect(await runInProcess(['health', ...args, ...PATIENTLY], environment)).toEqual({
    code: 0,
    signal: null,
    stdout: `http://127.0.0.1:${port} is ready\n`,
    stderr: '',
  });
});

test('health speaks TLS to an address that begins with https', async () => {
  const port = await standIn(200);
  expect(await runInProcess(['health', '--url', `https://127.0.0.1:${port}`])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not ready: EPROTO/),
  });
});

test('health reports a started sandbox as ready', async () => {
  const { url } = await serveInProcess();
  expect(await runInProcess(['health', '--url', url, ...PATIENTLY])).toMatchObject({
    code: 0,
    stdout: `${url} is ready\n`,
  });
});

test('health --wait asks until the sandbox is ready, at most for the given time', async () => {
  const url = `http://127.0.0.1:${await standIn(0, 503, 200)}`; // starting, with a store that is away, ready
  expect(await runInProcess(['health', '--url', url, ...PATIENTLY])).toMatchObject({
    code: 0,
    stdout: `${url} is ready\n`,
  });
  const nowhere = ['health', '--url', 'http://127.0.0.1:1', '--wait', '150ms'];
  expect(await runInProcess(nowhere)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ECONNREFUSED'),
  });
  expect(await runInProcess(['health', '--wait', 'long'])).toMatchObject({
    code: 2,
    stderr: 'payout-sandbox: --wait must be a duration such as 30s, not long\n',
  });
});

test('health exits with 1 and one line when the sandbox is not ready or not running', async () => {
  const stopping = await standIn(503);
  expect(await runInProcess(['health'], { PORT: stopping })).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `payout-sandbox: http://127.0.0.1:${stopping} is not ready: it returns 503\n`,
  });
  expect(await runInProcess(['health', '--url', 'http://127.0.0.1:1'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: 'payout-sandbox: http://127.0.0.1:1 is not ready: ECONNREFUSED\n',
  });
});

/** A folder with these scenario files. */
function folderOf(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'scenarios-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

test('scenarios lists built-in scenarios and those of a folder by name, with a tab before each description', async () => {
  const folder = folderOf({ 'mine.yaml': 'description: >-\n  two\n\n  lines\n', 'bare.json': '{}' });
  const { code, stdout, stderr } = await runInProcess(['scenarios', '--scenarios', folder]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const listed = new Map(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t') as [string, string]),
  );
  expect([...listed.keys()]).toEqual([...listed.keys()].toSorted());
  const builtIn = readdirSync('fixtures/scenarios').map((file) => file.replace('.yaml', ''));
  expect(new Set(listed.keys())).toEqual(new Set([...builtIn, 'default', 'mine', 'bare']));
  expect(listed.get('mine')).toBe('two lines');
  expect(listed.get('bare')).toBe('');
  expect(listed.get('default')).toBe('The settings and nothing else');
  for (const name of builtIn) expect(listed.get(name)).toMatch(/\w/);
});

test('scenarios reads SANDBOX_SCENARIOS, and reports errors in the files of that folder', async () => {
  const folder = folderOf({ 'mine.yaml': 'rules: 5\n' });
  expect(await runInProcess(['scenarios'], { SANDBOX_SCENARIOS: folder })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^payout-sandbox: .+mine\.yaml:1:8 rules .+\n$/),
  });
});

test.skipIf(!hasTerminal)(
  'on a terminal scenarios prints columns, and colours unless NO_COLOR is set',
  async () => {
    const plain = await onTerminal(['scenarios'], { NO_COLOR: '1' }).ended;
    const rows = plain.stdout.trimEnd().split('\r\n');
    const column = /^(strict +)/m.exec(plain.stdout)![0].length;
    expect(rows.filter((row) => row[column - 1] !== ' ' || row[column] === ' ')).toEqual([]);
    const coloured = await onTerminal(['scenarios']).ended;
    expect(coloured.stdout).toContain('\u001b[1mstrict\u001b[22m  ');
    expect(coloured.stdout.replaceAll('\u001b[1m', '').replaceAll('\u001b[22m', '')).toBe(plain.stdout);
  },
);

test('a sandbox on every address logs a URL that works on this machine', async () => {
  const { url } = await serveInProcess({ HOST: '0.0.0.0' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await ask(`${url}/client/fetchbalance`, 'sk_test_a')).status).toBe(200);
});

test('an IPv6 address is written in brackets, even on a machine without IPv6', async () => {
  const output = hasIpv6
    ? (await serveInProcess({ HOST: '::1' })).url
    : (await runInProcess([], { HOST: '::1' })).stderr;
  expect(output).toMatch(hasIpv6 ? /^http:\/\/\[::1\]:[1-9]\d*$/ : /^payout-sandbox: \[::1\]:0 .+\n$/);
});

test('a command keeps its exit code when nobody reads its standard error', async () => {
  const program = new Program(process.execPath, [MAIN, 'serve', '--port', 'abc'], {});
  program.child.stderr!.destroy();
  expect((await program.ended).code).toBe(2);
});

import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../src/settings.ts';
import {
  ask,
  hasTerminal,
  MAIN,
  onTerminal,
  Program,
  runInProcess,
  serveInProcess,
  startProgram,
} from '../support/program.ts';
import { testRows } from '../support/test-rows.ts';
import { folderWith, temporaryFolder } from '../support/temporary-folder.ts';

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');

test('--help fits one screen, and lists the commands, examples and exit codes', async () => {
  const { code, stdout, stderr } = await runInProcess(['--help']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines.length).toBeLessThanOrEqual(48);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  for (const command of ['serve', 'validate', 'scenarios', 'schema', 'health']) {
    expect(stdout).toMatch(new RegExp(`^  ${command} .*\\w`, 'm'));
    expect((await runInProcess([command, '--help'])).stdout).toMatch(`Usage: payout-sandbox ${command} `);
  }
  expect(stdout).toContain(' timeout-after-commit ');
  expect(stdout).toMatch(/Exit codes:\n {2}0 {2}done, or stopped by a signal\n {2}1 .*\n {2}2 /);
});

test('--help of every command but serve fits one screen, and names the settings that the command takes', async () => {
  const helpOf = async (name: string): Promise<string> => (await runInProcess([name, '--help'])).stdout;
  for (const name of ['referee', 'hunt', 'matrix', 'examine', 'mcp', 'probe', 'pay', 'explain']) {
    const fits = (await helpOf(name)).split('\n').length <= 48;
    expect({ name, fits }).toEqual({ name, fits: true });
  }
  expect(await helpOf('hunt')).toMatch(
    /\nSettings of the sandbox, which serve --help explains:\n {2}--port, --opening-balance, .*--clock\n/s,
  );
  expect(await helpOf('referee')).toContain('which serve --help explains:\n  all of them\n');
});

test('serve --help lists every setting with its flag, its variable and its default', async () => {
  const help = (await runInProcess(['serve', '--help'])).stdout.replaceAll(/\s+/g, ' ');
  for (const { flag, value, description, env, defaultText } of SETTINGS) {
    expect(help).toContain(` ${flag} ${value} ${description} [${env}; default ${defaultText}] `);
  }
});

test('validate reads a pipe, which can be read only once', async () => {
  const neverReached =
    '{ rules: [{ name: a, effect: { fault: hang } }, { name: b, effect: { fault: hang } }] }';
  const pipe = join(temporaryFolder(), 'pipe');
  await new Program('mkfifo', [pipe], {}).ended;
  const writer = new Program('sh', ['-c', 'echo "$0" > "$1"', neverReached, pipe], {});
  const { code, stdout } = await runInProcess(['validate', pipe]);
  expect({ code, lines: stdout.replaceAll(pipe, 'pipe') }).toEqual({
    code: 0,
    lines: expect.stringMatching(/^pipe:1: warning: rules\[1\] never applies: .*\n.*: ok, 2 rules\n$/),
  });
  await writer.ended;
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
  expect(await runInProcess(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

testRows<[string, readonly string[], string]>([
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
    'an unknown command with a flag',
    ['credit', '5', '--key', 'sk_test_a'],
    'there is no command credit; payout-sandbox --help lists the commands',
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
  ['health with port 0', ['health'], 'port 0 is not a port to connect to: give that of the sandbox'],
  [
    'health with a time without its unit',
    ['health', '--wait', 'long'],
    '--wait must be a duration such as 30s, not long',
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
    '/nowhere cannot be read (no such file or folder): it must be a folder of scenario files',
  ],
  [
    'a dialect with another ending',
    ['--dialect', 'LICENSE'],
    'LICENSE is a file of another type: use a file that ends in .yaml, .yml or .json, or one of default, lenient, strict, terse',
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
    '/nowhere/my.yaml cannot be read (no such file or folder)',
  ],
  [
    'a folder as a scenario',
    ['--scenario', 'fixtures'],
    expect.stringContaining('fixtures is a folder: use a file'),
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
    const { code, stdout, stderr } = await runInProcess(args);
    const [, line] = /^payout-sandbox: (.*)\n$/.exec(stderr) ?? [];
    expect({ code, stdout, line }).toEqual({ code: 2, stdout: '', line: complaint });
  },
);

test('health asks a host that is called like a property of every object', async () => {
  const { code, stderr } = await runInProcess(['health', '--host', 'constructor', '--port', '9']);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^payout-sandbox: http:\/\/constructor:9 is not ready: /);
});

test('`payout-sandbox FILE` serves the scenario of the file', async () => {
  const { ready } = await startProgram({}, ['fixtures/init/scenarios/lost-response.yaml']);
  expect(ready).toMatchObject({ scenario: 'lost-response' });
  expect(ready).not.toHaveProperty('dialect');
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

test('a port in use, and an address that cannot be listened on, stop the program with exit code 2 and one line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const inUse = `127.0.0.1:${port} is already in use: choose another port with --port (0 picks a free one)`;
  for (const [args, complaint] of [
    [['--port', String(port)], inUse],
    [['--host', '192.0.2.1'], '192.0.2.1:0 '], // of another machine
    [['--host', 'fe80::1'], '[fe80::1]:0 '], // without its zone
  ] as const) {
    const { code, stdout, stderr } = await runInProcess(args);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 });
    expect(stderr).toContain(`payout-sandbox: ${complaint}`);
  }
});

test('flags of the program override the environment, before and after serve; port 0 is a free one', async () => {
  const { url, ready } = await startProgram(
    { SANDBOX_OPENING_BALANCE: '1', SANDBOX_SETTLEMENT: 'instant', LOG_LEVEL: '' },
    ['--settlement', 'manual', 'serve', '--opening-balance', '70.5', '--dialect', 'lenient'],
  );
  expect(ready).toMatchObject({ settlement: 'manual', dialect: 'lenient', msg: 'payout sandbox ready' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  const balance = await ask(`${url}/client/fetchbalance`, 'sk_test_a');
  expect(await balance.json()).toMatchObject({ data: { balance: 70.5 } });
});

const NO_STORE = 'store_unavailable';

/**
 * A server that answers /_sandbox/health with these statuses, the last one again and again, and everything else with 404.
 *
 * @returns its port
 */
async function standIn(...statuses: readonly (number | typeof NO_STORE)[]): Promise<string> {
  let asked = 0;
  const server = createHttpServer(({ url }, response) => {
    const given = statuses[Math.min(asked++, statuses.length - 1)]!;
    const [code, status] = given === NO_STORE ? [200, NO_STORE] : [given, 'ready'];
    if (code === 0) response.destroy();
    else response.writeHead(url === '/_sandbox/health' ? code : 404).end(JSON.stringify({ status }));
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return String((server.address() as AddressInfo).port);
}

/** Client and server are one process here: when it pauses for 3 s, no response has come in time. */
const PATIENTLY = ['--wait', '1m'];

testRows<[string, (port: string) => readonly string[], (port: string) => Record<string, string>]>([
  ['by its port flag', (port) => ['--port', port], () => ({})],
  ['by its port variable', () => [], (port) => ({ PORT: port })],
  ['on every address', () => [], (port) => ({ PORT: port, HOST: '0.0.0.0' })],
  ['by its URL', (port) => ['--url', `http://127.0.0.1:${port}/`], () => ({})],
])(
  'health prints one line when the sandbox is ready, however it is found',
  async (_how, args, environment) => {
    const port = await standIn(200);
    expect(await runInProcess(['health', ...args(port), ...PATIENTLY], environment(port))).toMatchObject({
      code: 0,
      stdout: `http://127.0.0.1:${port} is ready\n`,
      stderr: '',
    });
  },
);

test('health --wait asks until the sandbox is ready, at most for the given time', async () => {
  const url = `http://127.0.0.1:${await standIn(0, 503, NO_STORE, 200)}`; // starting, stopping, with a store that is away, ready
  expect(await runInProcess(['health', '--url', url, ...PATIENTLY])).toMatchObject({
    code: 0,
    stdout: `${url} is ready\n`,
  });
  const nowhere = ['health', '--url', 'http://127.0.0.1:1', '--wait', '150ms'];
  expect((await runInProcess(nowhere)).code).toBe(1);
});

test('health says that the store is unavailable, which is a failure only with --wait', async () => {
  const url = `http://127.0.0.1:${await standIn(NO_STORE)}`;
  const ended = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInProcess(['health', '--url', url, ...args]);
    return [code, stdout, stderr];
  };
  expect(await ended()).toEqual([0, `${url} responds, but its store is unavailable\n`, '']);
  expect(await ended('--wait', '1ms')).toEqual([
    1,
    '',
    expect.stringContaining(`${url} is not ready: its store is unavailable\n`),
  ]);
});

testRows<[string, (port: string) => string, RegExp]>([
  ['a sandbox that stops', (port) => `http://127.0.0.1:${port}`, /:\d+ is not ready: it returns 503\n$/],
  ['TLS where there is none', (port) => `https://127.0.0.1:${port}`, / is not ready: EPROTO/],
  ['nobody', () => 'http://127.0.0.1:1', /http:\/\/127.0.0.1:1 is not ready: ECONNREFUSED\n$/],
])(
  'health exits with 1 and one line when the sandbox is not ready or not running',
  async (_what, at, complaint) => {
    const { code, stdout, stderr } = await runInProcess(['health', '--url', at(await standIn(503))]);
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(complaint),
    });
  },
);

test('scenarios lists built-in scenarios and those of a folder by name, with a tab before each description', async () => {
  const folder = folderWith({ 'mine.yaml': 'description: >-\n  two\n\n  lines\n', 'bare.json': '{}' });
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
  expect(listed.get('default')).toBe('No rules: uses the settings as they are');
  for (const name of builtIn) expect(listed.get(name)).toMatch(/\w/);
  writeFileSync(join(folder, 'mine.yaml'), 'rules: 5\n');
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

test('a sandbox on every address logs a URL that works here, and an IPv6 address is written in brackets', async () => {
  const { url } = await serveInProcess({ HOST: '0.0.0.0' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await ask(`${url}/client/fetchbalance`, 'sk_test_a')).status).toBe(200);
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

test('a copy of the program without the rest of its package says so, and ends', async () => {
  const folder = temporaryFolder();
  cpSync(dirname(MAIN), folder, { recursive: true, filter: (path) => !/dashboard|docs/.test(path) });
  const program = new Program(process.execPath, [join(folder, 'main.cjs'), '--version'], {});
  const { code, stderr } = await program.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('payout-sandbox needs its whole package');
});

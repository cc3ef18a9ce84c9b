import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { SETTINGS } from '../../src/settings.ts';
import { ask, MAIN, Program, runInProcess, serveInProcess, startProgram } from '../support/program.ts';
import { listening } from '../support/http/raw-socket.ts';
import { quietPort } from '../support/http/quiet-port.ts';
import { testRows } from '../support/test-rows.ts';
import { folderWith, temporaryFolder } from '../support/temporary-folder.ts';

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((address) => address?.address === '::1');

const outputOf = async (...args: string[]): Promise<string> => (await runInProcess(args)).stdout;

test('--help lists what a new user needs, with examples and exit codes, and --help --all every command', async () => {
  const listed = (help: string): readonly string[] =>
    [...help.matchAll(/^ {2}([a-z]+) .*\w/gm)].map(([, name]) => name!);
  const help = await outputOf('--help');
  expect(help.split('\n').filter((line) => line.length > 120)).toEqual([]);
  expect(listed(help).length).toBeLessThanOrEqual(20);
  const wanted = ['serve', 'status', 'pay', 'advance', 'journal', 'use', 'reset'];
  expect(listed(help)).toEqual(expect.arrayContaining(wanted));
  expect(help).toContain(' timeout-after-commit ');
  expect(help).toMatch(/Exit codes:\n {2}0 {2}done, or stopped by a signal\n {2}1 .*\n {2}2 /);
  const all = await outputOf('--help', '--all');
  expect(listed(all)).toEqual(buildProgram({}).commands.map((command) => command.name()));
});

test('--help of every command but serve fits one screen, and names the settings that the command takes', async () => {
  for (const name of ['', 'referee', 'hunt', 'matrix', 'mcp', 'pay', 'explain']) {
    const help = await outputOf(...name.split(' ').filter(Boolean), '--help');
    expect({ name, fits: help.split('\n').length <= 48 }).toEqual({ name, fits: true });
  }
  expect(await outputOf('hunt', '--help')).toMatch(
    /\nSettings of the sandbox, which serve --help explains:\n {2}--port, --opening-balance, .*--clock\n/s,
  );
  expect(await outputOf('referee', '--help')).toContain('which serve --help explains:\n  all of them\n');
});

test('serve --help lists every setting with its flag, its variable and its default', async () => {
  const help = (await outputOf('serve', '--help')).replaceAll(/\s+/g, ' ');
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

testRows<[short: string, long: string]>([
  ['help', '--help'],
  ['help --all', '--help --all'],
  ['help rule add', 'rule add --help'],
  ['-v', '--version'],
])('-h, help, -v and -V are short for --help and --version', async (short, long) => {
  expect(await outputOf(...short.split(' '))).toBe(await outputOf(...long.split(' ')));
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await runInProcess(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});

testRows<[line: string, complaint: string]>([
  ['--prot 1', "unknown option '--prot' (Did you mean --port?) (see --help)"],
  ['--api-key=sk_secret', "unknown option '--api-key' (see --help)"],
  ['--seed', "option '--seed <text>' argument missing (see --help)"],
  [
    'vaildate',
    'there is no command vaildate (did you mean validate?); payout-sandbox --help lists the commands',
  ],
  ['rule ad', 'rule takes one of add, remove, not ad (did you mean add?) (see rule --help)'],
  ['health', 'port 0 is not a port to connect to: give that of the sandbox'],
  ['health --url http://127.0.0.1:9 --port 9', '--port does nothing with --url'],
  [
    '--dialect LICENSE',
    'LICENSE is a file of another type: use a file that ends in .yaml, .yml or .json, or one of default, lenient, strict, terse',
  ],
  [
    'scenarios --scenarios /nowhere',
    '/nowhere cannot be read (no such file or folder): it must be a folder of scenario files',
  ],
  ['--seed 1 status', 'status must come before its flags'],
  ['my.yaml --scenario strict', 'only one scenario can be served, not both my.yaml and --scenario'],
  ['--state-every 1m', '--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)'],
])(
  'what is wrong on the command line stops the program with exit code 2 and one line',
  async (line, complaint) => {
    const { code, stdout, stderr } = await runInProcess(line.split(' '));
    const [, said] = /^payout-sandbox: (.*)\n$/.exec(stderr) ?? [];
    expect({ code, stdout, said }).toEqual({ code: 2, stdout: '', said: complaint });
  },
);

test('an unknown variable that looks like a setting causes a warning that suggests the nearest name', async () => {
  const warning = (name: string, hint = '') =>
    `payout-sandbox: warning: ${name} is not a setting and is ignored${hint}\n`;
  const variables = {
    SANDBOX_SEEED: '1',
    SANDBOX_COLOUR: 'red',
    SANDBOX_KEY: 'sk_test_a',
    SANDBOX_SERVICE_HOST: '10.0.0.1', // Kubernetes sets these for a service that is called sandbox
    SANDBOX_PORT: 'tcp://10.0.0.1:3000',
    SANDBOX_PORT_3000_TCP: 'tcp://10.0.0.1:3000',
  };
  const { code, stderr } = await runInProcess(['scenarios'], variables);
  expect(code).toBe(0);
  expect(stderr).toBe(warning('SANDBOX_SEEED', ' (did you mean SANDBOX_SEED?)') + warning('SANDBOX_COLOUR'));
});

test('a port in use, and an address that cannot be listened on, stop the program with exit code 2 and one line', async () => {
  const { port } = new URL(await listening(createServer()));
  const inUse = `127.0.0.1:${port} is already in use: choose another port with --port (0 picks a free one)`;
  for (const [args, complaint] of [
    [['--port', port], inUse],
    [['--host', '192.0.2.1'], '192.0.2.1:0 '], // of another machine
  ] as const) {
    const { code, stdout, stderr } = await runInProcess(args);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 });
    expect(stderr).toContain(`payout-sandbox: ${complaint}`);
  }
});

test('flags override the environment; port 0 is a free one', async () => {
  const { url, ready, program } = await startProgram(
    {
      HOST: 'x86_64-conda',
      SANDBOX_OPENING_BALANCE: '1',
      SANDBOX_SETTLEMENT: 'instant',
      SANDBOX_LOG_LEVEL: '',
    },
    ['serve', '--settlement', 'manual', '--opening-balance', '70.5', '--dialect', 'lenient'],
  );
  expect(ready).toMatchObject({ settlement: 'manual', dialect: 'lenient', msg: 'payout sandbox ready' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/);
  const balance = await ask(`${url}/client/fetchbalance`, 'sk_test_a');
  expect(await balance.json()).toMatchObject({ data: { balance: 70.5 } });
  const warning =
    'payout-sandbox: warning: the sandbox does not read HOST, which other programs use: set SANDBOX_HOST\n';
  expect((await program.stop()).stderr).toBe(warning);
});

const STORE_AWAY: Status = [200, 'store_unavailable'];

type Status = number | readonly [code: number, status: string];

/**
 * A server that answers /_sandbox/health with these statuses, the last one again and again, and everything else with 404.
 *
 * @returns its port
 */
async function standIn(...statuses: readonly Status[]): Promise<string> {
  let asked = 0;
  const server = createHttpServer(({ url }, response) => {
    const given = statuses[Math.min(asked++, statuses.length - 1)]!;
    const [code, status] = typeof given === 'number' ? [given, 'ready'] : given;
    if (code === 0) response.destroy();
    else
      response
        .setHeader('x-payout-sandbox', '1.0.0')
        .writeHead(url === '/_sandbox/health' ? code : 404)
        .end(JSON.stringify({ status }));
  });
  return new URL(await listening(server)).port;
}

/** Client and server are one process here: when it pauses for 3 s, no response has come in time. */
const PATIENTLY = ['--wait', '1m'];
const AT = ['--url', 'http://127.0.0.1:PORT'];
const READY = 'http://127.0.0.1:PORT is ready\n';
const notReady = (why: string): string => `payout-sandbox: http://127.0.0.1:PORT is not ready: ${why}\n`;
const NO_STORE_SAID = 'http://127.0.0.1:PORT responds, but its store is unavailable\n';

interface Asked {
  readonly statuses: readonly Status[];
  readonly flags: readonly string[];
  readonly environment?: Record<string, string>;
  readonly code: number;
  readonly says: string;
}

/** `PORT` stands for that of a server which responds with these statuses. */
testRows<Asked>([
  { statuses: [200], flags: ['--port', 'PORT', ...PATIENTLY], code: 0, says: READY },
  {
    statuses: [200],
    flags: PATIENTLY,
    environment: { SANDBOX_PORT: 'PORT', SANDBOX_HOST: '0.0.0.0' },
    code: 0,
    says: READY,
  },
  // starting, stopping, with a store that is away, ready
  { statuses: [0, 503, STORE_AWAY, 200], flags: [...AT, ...PATIENTLY], code: 0, says: READY },
  { statuses: [STORE_AWAY], flags: AT, code: 0, says: NO_STORE_SAID },
  {
    statuses: [STORE_AWAY],
    flags: [...AT, '--wait', '1ms'],
    code: 1,
    says: notReady('its store is unavailable'),
  },
  { statuses: [503], flags: AT, code: 1, says: notReady('it returns 503') },
  {
    statuses: [[503, 'store_unavailable']],
    flags: AT,
    code: 1,
    says: notReady('it has not reached its store yet'),
  },
])(
  'health asks the sandbox that is meant, until it is ready or the time is over, and says in one line what it is',
  async ({ statuses, flags, environment = {}, code, says }) => {
    const port = await standIn(...statuses);
    const withPort = (text: string): string => text.replace('PORT', port);
    const variables = Object.entries(environment).map(([name, value]) => [name, withPort(value)]);
    const ended = await runInProcess(['health', ...flags.map(withPort)], Object.fromEntries(variables));
    const said = (ended.stdout + ended.stderr).replaceAll(port, 'PORT');
    expect({ code: ended.code, said }).toEqual({ code, said: says });
  },
);

test('health --wait gives up after its time where nobody listens', async () => {
  const url = `http://127.0.0.1:${await quietPort()}`;
  expect(await runInProcess(['health', '--url', url, '--wait', '150ms'])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `payout-sandbox: ${url} is not ready: ECONNREFUSED\n`,
  });
});

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
  expect(listed.get('default')).toBe('No rules: uses the settings as they are');
  for (const name of builtIn) expect(listed.get(name)).toMatch(/\w/);
});

test('on a terminal scenarios prints colours unless NO_COLOR is set', async () => {
  const { isTTY } = process.stdout;
  process.stdout.isTTY = true;
  onTestFinished(() => void (process.stdout.isTTY = isTTY));
  const plain = (await runInProcess(['scenarios'], { NO_COLOR: '1' })).stdout;
  const coloured = (await runInProcess(['scenarios'])).stdout;
  expect(coloured).toContain('\u001b[1mstrict\u001b[22m  ');
  expect(stripVTControlCharacters(coloured)).toBe(plain);
});

test('a sandbox on every address logs a URL that works here, and an IPv6 address is written in brackets', async () => {
  const { url } = await serveInProcess({ SANDBOX_HOST: '0.0.0.0' });
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await ask(`${url}/client/fetchbalance`, 'sk_test_a')).status).toBe(200);
  if (!hasIpv6) return;
  expect((await serveInProcess({ SANDBOX_HOST: '::1' })).url).toMatch(/^http:\/\/\[::1\]:[1-9]\d*$/);
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

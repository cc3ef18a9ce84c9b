import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { SETTINGS } from '../../src/settings.ts';
import { commandsOf } from '../support/markdown.ts';
import { ask, Program, startProgram } from '../support/program.ts';

/** Runs the commands of docs/recipes that need only Node.js, curl and Python. */

const fileOf = (path: string): string =>
  fileURLToPath(new URL(`../../docs/recipes/${path}`, import.meta.url));
const textOf = (path: string): string => readFileSync(fileOf(path), 'utf8');
const MAIN = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));
const DOCKERFILE = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

const ADDRESS = /http:\/\/[\d.:]+/;

const isInstalled = (command: string): boolean => spawnSync(command, ['--version']).status === 0;
const hasCurl = isInstalled('curl');
const hasPython = isInstalled('python3');

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** What a command of a page prints against the sandbox at `url` instead of port 3000. */
const printedBy = (shell: string, url: string): string =>
  spawnSync('sh', ['-c', shell.replaceAll('http://127.0.0.1:3000', url)], { encoding: 'utf8' }).stdout;

const paste = (shell: string, url: string): Record<string, unknown> =>
  JSON.parse(printedBy(shell, url)) as Record<string, unknown>;

const curlsOf = (page: string): string[] => commandsOf(textOf(page), 'curl').map(({ shell }) => shell);

interface DockerRun {
  readonly environment: Record<string, string>;
  readonly mounts: Record<string, string>;
  readonly ports: readonly string[];
}

/** The parsed `docker run` commands of docker.md. Fails on an unknown option. */
function dockerRuns(): DockerRun[] {
  const commands = textOf('docker.md').matchAll(/^docker run ((?:.*\\\n)*.*)$/gm);
  return [...commands].map(([, rest]) => {
    const words = rest!.replaceAll('\\\n', ' ').match(/(?:"[^"]*"|\S)+/g)!;
    const environment: Record<string, string> = {};
    const mounts: Record<string, string> = {};
    const ports: string[] = [];
    while (words.length > 1) {
      const option = words.shift()!;
      if (['--rm', '-d', '--read-only'].includes(option)) continue;
      const value = words.shift()!.replaceAll('"', '');
      if (option === '-e') environment[value.split('=')[0]!] = value.slice(value.indexOf('=') + 1);
      else if (option === '-v') mounts[value.split(':')[1]!] = value.split(':')[0]!;
      else if (option === '-p') ports.push(value);
      else if (!['--name', '--user'].includes(option)) throw new Error(`unknown option ${option}`);
    }
    expect(words).toEqual(['payout-sandbox']);
    return { environment, mounts, ports };
  });
}

test('docker.md: every docker run publishes the port of the image, and uses variables and mounts that exist', () => {
  const runs = dockerRuns();
  expect(runs).toHaveLength(4);
  for (const { environment, mounts, ports } of runs) {
    expect(ports).toEqual([`127.0.0.1:3000:${/^EXPOSE (\d+)$/m.exec(DOCKERFILE)![1]}`]);
    expect(SETTINGS.map(({ env }): string => env)).toEqual(expect.arrayContaining(Object.keys(environment)));
    for (const folder of Object.keys(mounts)) {
      expect(DOCKERFILE + Object.values(environment).join(' ')).toContain(folder);
    }
  }
});

test.skipIf(!hasCurl)(
  'docker.md: with the variables of its commands, its curl commands get the described answers',
  async () => {
    const [plain, scenario, keys] = dockerRuns() as [DockerRun, DockerRun, DockerRun];
    const [health, which, refused] = curlsOf('docker.md') as [string, string, string];
    expect(paste(health, (await startProgram(plain.environment)).url)).toMatchObject({ status: 'ready' });

    expect(scenario.mounts).toEqual({ '/scenarios': '$PWD/scenarios' });
    const mounted = { ...scenario.environment, SANDBOX_SCENARIOS: fileOf('docker/scenarios') };
    expect(paste(which, (await startProgram(mounted)).url)).toMatchObject({ name: 'neft-fails-late' });

    const fixed = await startProgram(keys.environment);
    expect(paste(refused, fixed.url)).toMatchObject({ code: 'UNAUTHORIZED' });
    expect(paste(refused.replace('green', 'red'), fixed.url)).toMatchObject({ status: 'success' });
  },
);

/** The same variables, with the state file in a folder of the test. */
const withStateIn = (folder: string, environment: Record<string, string>): Record<string, string> => {
  const name = environment['SANDBOX_STATE']!.split('/').at(-1)!;
  return { ...environment, PORT: '0', SANDBOX_STATE: join(folder, name) };
};

test('docker.md: with the state in its mount, a payout survives a restart', async () => {
  const environment = withStateIn(temporaryFolder(), dockerRuns()[3]!.environment);
  const first = await startProgram(environment);
  await ask(`${first.url}/payout/initiate`, 'sk_test_kept', {});
  const { stdout } = await first.program.stop();
  expect(stdout).toContain('"msg":"state written"');
  const second = new Program(process.execPath, [MAIN], environment); // its first line has what it restored
  const answer = await ask(`${await second.says(ADDRESS)}/client/fetchbalance`, 'sk_test_kept');
  expect(await answer.json()).toMatchObject({ data: { balance: 998_499.5 } });
});

test.skipIf(!hasCurl)(
  'compose.md: the app makes a payout in a sandbox with that environment, and the curl command shows it',
  async () => {
    const { services } = parse(textOf('compose/compose.yaml')) as {
      services: Record<string, { environment: Record<string, string> }>;
    };
    const { url } = await startProgram(services['payouts']!.environment);
    const app = new Program(process.execPath, [fileOf('compose/app/pay.mjs')], {
      ...services['app']!.environment,
      PAYOUT_URL: url,
    });
    expect(await app.ended).toMatchObject({ code: 0, stdout: 'order-1 SUCCESS 1500.5\n', stderr: '' });
    const [curl] = curlsOf('compose.md') as [string];
    expect(paste(curl, url)).toMatchObject({ transactions: { SUCCESS: 1 } });
  },
);

test('github-actions.md: the script of the second job starts a sandbox and waits until it is ready', async () => {
  const { jobs } = parse(textOf('github-actions/payouts.yml')) as {
    jobs: Record<string, { steps: readonly { name?: string; run?: string }[] }>;
  };
  const { run } = jobs['without-a-container']!.steps.find(({ name }) => name?.startsWith('Start'))!;
  const folder = temporaryFolder();
  const log = join(folder, 'payout-sandbox.log');
  // npx like on the runner, with a free port
  const { url, program } = await startProgram();
  await program.stop();
  writeFileSync(join(folder, 'npx'), `#!/bin/sh\nshift\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(join(folder, 'npx'), 0o755);
  const script = `cd "${folder}"\n${run}\nkill $!\nwait $! && echo stopped`;
  const step = new Program('bash', ['-e', '-c', script], {
    PATH: `${folder}:${process.env['PATH']}`,
    PORT: new URL(url).port,
  });
  expect(await step.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/ is ready\nstopped\n$/) });
  expect(readFileSync(log, 'utf8')).toContain('"settlement":"instant"');
});

test.skipIf(!hasCurl)(
  'github-actions.md: its curl command shows the requests of a world, oldest first',
  async () => {
    const { url } = await startProgram();
    await ask(`${url}/payout/initiate`, 'sk_test_demo', {});
    await ask(`${url}/client/fetchbalance`, 'sk_test_demo');
    const [curl] = curlsOf('github-actions.md') as [string];
    expect(printedBy(curl, url)).toMatch(
      /#1 .* POST \/payout\/initiate .*\n +#2 .* GET \/client\/fetchbalance .*\n$/,
    );
  },
);

test.skipIf(!hasPython)('python.md: the tests pass with the command of the page', async () => {
  const { url } = await startProgram();
  const folder = temporaryFolder();
  cpSync(fileOf('python'), folder, { recursive: true });
  const shell = /```sh\n(.* python3 -m unittest)\n```/.exec(textOf('python.md'))![1]!;
  const program = new Program(
    'sh',
    ['-c', `cd "${folder}" && ${shell.replace('http://127.0.0.1:3000', url)}`],
    {},
  );
  const { code, stderr } = await program.ended;
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/Ran 4 tests/) });
});

test('load-testing.md: with its settings a key can send more than a hundred initiates a second', async () => {
  const [, flags] = /```sh\nnpx payout-sandbox (.*)\n```/.exec(textOf('load-testing.md'))!;
  const words = flags!.replace('--log-level warn', '--log-level info').split(' '); // the port is logged at info
  const { url } = await startProgram({}, words);
  const sent = Array.from({ length: 150 }, (_, i) => ({ client_ref_id: `load-${i}`, amount: 1 }));
  const answers = await Promise.all(
    sent.map((payout) => ask(`${url}/payout/initiate`, 'sk_test_load', payout)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

test.skipIf(!hasCurl)(
  'shared-sandbox.md: keys have separate worlds, which are restored after a restart',
  async () => {
    const folder = temporaryFolder();
    const env = textOf('shared/sandbox.env')
      .replace(/^PORT=.*$/m, 'PORT=0')
      .replace(/^SANDBOX_STATE=.*$/m, `SANDBOX_STATE=${join(folder, 'worlds.jsonl')}`);
    writeFileSync(join(folder, 'sandbox.env'), env);
    const [, keys] = /^SANDBOX_API_KEYS=(.*)$/m.exec(env)!;
    const [red, blue] = keys!.split(',') as [string, string];

    const start = async () => {
      // without PORT, which would override the one of the file
      const words = ['-u', 'PORT', process.execPath, `--env-file=${join(folder, 'sandbox.env')}`, MAIN];
      const program = new Program('env', words, {});
      return { program, url: await program.says(ADDRESS) };
    };
    const balanceOf = async (url: string, key: string): Promise<unknown> =>
      ((await (await ask(`${url}/client/fetchbalance`, key)).json()) as { data?: { balance: number } }).data
        ?.balance;

    const first = await start();
    await ask(`${first.url}/payout/initiate`, red, {});
    expect(await balanceOf(first.url, red)).toBe(998_499.5);
    expect(await balanceOf(first.url, blue)).toBe(1_000_000);
    expect((await ask(`${first.url}/client/fetchbalance`, 'sk_test_stranger')).status).toBe(401);
    const [curl] = curlsOf('shared-sandbox.md') as [string];
    expect((paste(curl, first.url)['worlds'] as unknown[]).length).toBe(2);
    expect((await ask(`${first.url}/_sandbox/worlds`, red)).status).toBe(401);
    await first.program.stop();

    const second = await start();
    expect(await balanceOf(second.url, red)).toBe(998_499.5);
  },
);

test('backoff.md: the suite passes in milliseconds, and fails for a client that ignores Retry-After', async () => {
  const folder = temporaryFolder();
  cpSync(fileOf('backoff'), folder, { recursive: true });
  mkdirSync(join(folder, 'node_modules'));
  const rootOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
  symlinkSync(rootOf('.'), join(folder, 'node_modules/payout-sandbox'));
  symlinkSync(rootOf('node_modules/p-retry'), join(folder, 'node_modules/p-retry'));
  const client = join(folder, 'retrying-client.mjs');
  const source = readFileSync(client, 'utf8');
  const run = async () => {
    const { code, stdout } = await new Program(
      process.execPath,
      ['--test', join(folder, 'backoff.test.mjs')],
      {},
    ).ended;
    return { code, stdout };
  };
  expect(await run()).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 3\b/) });
  const hasty = source.replace('error.retryAfterMs ?? ', '');
  expect(hasty).not.toBe(source);
  writeFileSync(client, hasty);
  const failed = await run();
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/fail 2\b/) });
  expect(failed.stdout).toContain('the service answered 429 to salary-3');
});

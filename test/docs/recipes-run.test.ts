import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { connectSandbox } from '../../src/index.ts';
import { readSettings } from '../../src/settings.ts';
import { commandsOf } from '../support/markdown.ts';
import { hasCurl } from '../support/paying-command.ts';
import { paste, Program, serveInProcess } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { projectFolder, temporaryFolder } from '../support/temporary-folder.ts';
import { testRows } from '../support/test-rows.ts';

/** Runs the commands of docs/recipes that need only Node.js, curl and Python. */

const fileOf = (path: string): string =>
  fileURLToPath(new URL(`../../docs/recipes/${path}`, import.meta.url));
const textOf = (path: string): string => readFileSync(fileOf(path), 'utf8');
const MAIN = fileURLToPath(new URL('../../dist/main.cjs', import.meta.url));
const DOCKERFILE = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

const isInstalled = (command: string): boolean => spawnSync(command, ['--version']).status === 0;
const hasPython = isInstalled('python3');

const answerTo = async (shell: string, url: string) =>
  JSON.parse(await paste(shell, url)) as Record<string, unknown>;

const curlsOf = (page: string): string[] => commandsOf(textOf(page), 'curl').map(({ shell }) => shell);

/** The `docker run` commands of install.md and containers.md. */
const dockerRuns = () =>
  [...`${textOf('../install.md')}${textOf('containers.md')}`.matchAll(/^docker run (?:.*\\\n)*.*$/gm)].map(
    ([command]) => ({
      environment: Object.fromEntries(
        [...command.matchAll(/-e (\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
      ),
      folders: [...command.matchAll(/-v "?\S+?:(\/\w+)/g)].map(([, folder]) => folder!),
      port: / -p (\S+) /.exec(command)![1],
      image: command.split(' ').at(-1),
    }),
  );

test('install.md, containers.md: every docker run is of the image that install.md builds, publishes its port, and uses settings and folders that exist', () => {
  const runs = dockerRuns();
  const [, built] = /^docker build -t (\S+) \.$/m.exec(textOf('../install.md'))!;
  expect(runs).toHaveLength(3);
  for (const { environment, folders, port, image } of runs) {
    expect(image).toBe(built);
    expect(port).toBe(`127.0.0.1:3000:${/^EXPOSE (\d+)$/m.exec(DOCKERFILE)![1]}`);
    expect(() => readSettings({}, environment)).not.toThrow();
    for (const folder of folders) expect(DOCKERFILE).toContain(` ${folder}`);
  }
});

test.skipIf(!hasCurl)(
  'containers.md: with the variables of its commands, the curl commands get what the pages describe',
  async () => {
    const [plain, scenario] = dockerRuns();
    const [health] = curlsOf('../install.md') as [string];
    const [which] = curlsOf('containers.md') as [string];
    expect(await answerTo(health, (await serveInProcess(plain!.environment)).url)).toMatchObject({
      status: 'ready',
    });

    const mounted = { ...scenario!.environment, SANDBOX_SCENARIOS: fileOf('docker/scenarios') };
    expect(await answerTo(which, (await serveInProcess(mounted)).url)).toMatchObject({
      name: 'neft-fails-late',
    });
  },
);

test.skipIf(!hasCurl)(
  'containers.md: the app of the compose file makes a payout in a sandbox with that environment, and the curl command shows it',
  async () => {
    const { services } = parse(textOf('compose/compose.yaml')) as {
      services: Record<string, { environment: Record<string, string> }>;
    };
    const { url } = await serveInProcess(services['payouts']!.environment);
    const app = new Program(process.execPath, [fileOf('compose/app/pay.mjs')], {
      ...services['app']!.environment,
      PAYOUT_URL: url,
    });
    expect(await app.ended).toMatchObject({ code: 0, stdout: 'order-1 SUCCESS 1500.5\n', stderr: '' });
    const [, curl] = curlsOf('containers.md') as [string, string];
    expect(await answerTo(curl, url)).toMatchObject({ transactions: { SUCCESS: 1 } });
  },
);

test('ci.md: the script of the last job waits for the sandbox that it starts, and fails if another has the port', async () => {
  const { jobs } = parse(textOf('github-actions/payouts.yml')) as {
    jobs: Record<string, { steps: readonly { name?: string; run?: string }[] }>;
  };
  const { run = '' } = jobs['without-a-container']!.steps.find(({ name }) => name?.startsWith('Start'))!;
  const folder = temporaryFolder();
  const { url, stop } = await serveInProcess(); // whose port is free afterwards
  const bin = join(folder, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'payout-sandbox'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`);
  chmodSync(join(bin, 'payout-sandbox'), 0o755);
  const here = run.replace('--port 3000', `--port ${new URL(url).port}`);
  const script = `cd "${folder}"\n${here}\nkill $!\nwait $! && echo stopped`;
  const step = () => new Program('bash', ['-e', '-c', script], {}).ended;
  expect(await step()).toMatchObject({ code: 1, stdout: '' });
  await stop();
  expect(await step()).toMatchObject({ code: 0, stdout: expect.stringMatching(/ready.*\nstopped\n$/) });
});

/** One of its requests hangs until the timeout of its client. */
test.skipIf(!hasPython).each(isLong ? ['languages.md'] : [])(
  '%s: the tests pass with the command of the page',
  async () => {
    const { url } = await serveInProcess();
    const folder = temporaryFolder();
    cpSync(fileOf('python'), folder, { recursive: true });
    const shell = /```sh\n(.* python3 -m unittest)\n```/.exec(textOf('languages.md'))![1]!;
    const program = new Program(
      'sh',
      ['-c', `cd "${folder}" && ${shell.replace('http://127.0.0.1:3000', url)}`],
      { PAYOUT_TIMEOUT_MS: '4000' }, // a busy machine must not look like a hang
    );
    const { code, stderr } = await program.ended;
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/Ran 4 tests/) });
  },
);

testRows(['python/sandbox_world.py', 'go/world_test.go', 'java/SandboxWorld.java'])(
  'a recipe without the library asks for the verdict on a client that sends no more',
  (file) => expect(textOf(file)).toMatch(/\/referee\?(format=text&)?ended=true/),
);

test('node.md: the suite of a backoff passes', async () => {
  const folder = projectFolder(['p-retry']);
  cpSync(fileOf('backoff'), folder, { recursive: true });
  const suite = new Program(process.execPath, ['--test', join(folder, 'backoff.test.mjs')], {});
  const { code, stdout } = await suite.ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 3\b/) });
});

test('webhooks.md: each settlement of a world is posted to the URL', async () => {
  const { url } = await serveInProcess();
  const folder = projectFolder();
  cpSync(fileOf('webhooks'), folder, { recursive: true });
  const receiver = createServer();
  onTestFinished(() => void receiver.close());
  const requests = once(receiver, 'request') as Promise<[IncomingMessage, ServerResponse]>;
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const args = [join(folder, 'forward.mjs'), target];
  await new Program(process.execPath, args, { PAYOUT_URL: url }, folder).says(/posting/);
  const world = connectSandbox({ url }).world('sk_test_demo');
  await world.pay({ client_ref_id: 'order-1' });
  await world.transition('order-1', 'FAILED');
  const [request, response] = await requests;
  expect(await json(request)).toMatchObject({ event: 'payout.FAILED', client_ref_id: 'order-1' });
  response.end();
});

/** Starts the program where the library would start the image. */
const TESTCONTAINERS = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
export const Wait = { forHttp: (path) => path };
export class GenericContainer {
  withExposedPorts() { return this; }
  withEnvironment(environment) { this.environment = environment; return this; }
  withWaitStrategy(path) { this.path = path; return this; }
  async start() {
    const env = { ...process.env, SANDBOX_PORT: '0', ...this.environment };
    const child = spawn(process.execPath, [process.env.SANDBOX_MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
    const { hostname, port } = new URL(JSON.parse(line).url);
    const { ok } = await fetch('http://' + hostname + ':' + port + this.path);
    if (!ok) throw new Error('it waits for something else');
    return { getHost: () => hostname, getMappedPort: () => port, stop: async () => { child.kill(); await once(child, 'exit'); } };
  }
}
`;

test('containers.md: the suite of Testcontainers for Node.js passes with a stand-in for the library', async () => {
  const folder = projectFolder();
  cpSync(fileOf('testcontainers/node'), folder, { recursive: true });
  const standIn = join(folder, 'node_modules/testcontainers');
  mkdirSync(standIn, { recursive: true });
  writeFileSync(join(standIn, 'index.js'), TESTCONTAINERS);
  writeFileSync(join(standIn, 'package.json'), '{"type":"module","exports":"./index.js"}');
  const suite = ['--test', join(folder, 'payouts.test.mjs')];
  const { code, stdout } = await new Program(process.execPath, suite, { SANDBOX_MAIN: MAIN }).ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 1\b/) });
});

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Program, serveInProcess } from '../support/program.ts';
import { isLong } from '../support/size.ts';
import { projectFolder } from '../support/temporary-folder.ts';

/**
 * Runs unchanged recipes for tools that are not installed, with stand-ins. The one for Testcontainers starts the program where the library would
 * start the image, so it checks the recipe and not the library.
 */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MAIN = join(ROOT, 'dist/main.cjs');
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A folder with a suite and stand-ins for the modules of the library. */
function suite(recipe: string, standIns: Record<string, string>): string {
  const folder = projectFolder();
  cpSync(join(ROOT, 'docs/recipes', recipe), folder, { recursive: true });
  for (const [file, text] of Object.entries(standIns)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return folder;
}

const FOR_NODE = `
import { spawn } from 'node:child_process';
import { once } from 'node:events';
export const Wait = { forHttp: (path, port) => ({ path, port }) };
export class GenericContainer {
  withExposedPorts(port) { this.port = port; return this; }
  withEnvironment(environment) { this.environment = environment; return this; }
  withWaitStrategy(wait) { this.wait = wait; return this; }
  async start() {
    const env = { ...process.env, PORT: '0', ...this.environment };
    const child = spawn(process.execPath, [process.env.SANDBOX_MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
    const { hostname, port } = new URL(JSON.parse(line).url);
    const ready = await fetch('http://' + hostname + ':' + port + this.wait.path);
    if (ready.status !== 200 || this.wait.port !== this.port) throw new Error('it waits for something else');
    const getMappedPort = (inside) => { if (inside !== this.port) throw new Error('not exposed'); return Number(port); };
    return { getHost: () => hostname, getMappedPort, stop: async () => { child.kill(); await once(child, 'exit'); } };
  }
}
`;

test.each(isLong ? ['Node.js'] : [])(
  'the suite for Testcontainers in %s passes with a stand-in for the library',
  async () => {
    const folder = suite('testcontainers/node', {
      'node_modules/testcontainers/index.js': FOR_NODE,
      'node_modules/testcontainers/package.json': '{"type":"module","exports":"./index.js"}',
    });
    const program = new Program(process.execPath, ['--test', join(folder, 'payouts.test.mjs')], {
      SANDBOX_MAIN: MAIN,
    });
    const { code, stdout } = await program.ended;
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/pass 1\b/) });
  },
);

const CONTAINER_FOR_PYTHON = `
import json, os, subprocess
class DockerContainer:
    def __init__(self, image):
        self.environment = dict(os.environ, PORT="0")
    def with_exposed_ports(self, port):
        self.port = port
        return self
    def with_env(self, name, value):
        self.environment[name] = value
        return self
    def start(self):
        main = [os.environ["NODE"], os.environ["SANDBOX_MAIN"]]
        self.process = subprocess.Popen(main, env=self.environment, stdout=subprocess.PIPE, text=True)
        return self
    def get_container_host_ip(self):
        return "127.0.0.1"
    def get_exposed_port(self, port):
        assert port == self.port
        return json.loads(self.line)["url"].rsplit(":", 1)[1]
    def stop(self):
        self.process.kill()
        self.process.communicate()
`;
const WAITING_FOR_PYTHON = `
def wait_for_logs(container, text, timeout):
    container.line = container.process.stdout.readline()
    assert text in container.line
`;

test.skipIf(!hasPython).each(isLong ? ['Python'] : [])(
  'the suite for Testcontainers in %s passes with a stand-in for the library',
  async () => {
    const folder = suite('testcontainers/python', {
      'testcontainers/core/container.py': CONTAINER_FOR_PYTHON,
      'testcontainers/core/waiting_utils.py': WAITING_FOR_PYTHON,
    });
    const program = new Program('sh', ['-c', `cd "${folder}" && python3 -m unittest`], {
      NODE: process.execPath,
      SANDBOX_MAIN: MAIN,
    });
    const { code, stderr } = await program.ended;
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/Ran 1 test/) });
  },
);

const MODULES_OF_K6 = {
  'node_modules/k6/index.js': `
    export const check = (answer, checks) => {
      for (const [name, holds] of Object.entries(checks)) console.log(name, holds(answer));
    };`,
  'node_modules/k6/execution.js': 'export default { vu: { idInTest: 7, iterationInScenario: 0 } };',
  'node_modules/k6/http.js': `
    import { spawnSync } from 'node:child_process';
    const ask = (url, { headers }, more = []) => {
      const words = Object.entries(headers).flatMap(([name, value]) => ['-H', name + ': ' + value]);
      const { stdout } = spawnSync('curl', ['-s', '-w', '%{http_code}', url, ...words, ...more], { encoding: 'utf8' });
      const body = JSON.parse(stdout.slice(0, -3));
      const json = (path) => path.split('.').reduce((value, name) => value[name], body);
      return { status: Number(stdout.slice(-3)), json };
    };
    export default { post: (url, body, params) => ask(url, params, ['-d', body]), get: ask };`,
  'node_modules/k6/package.json':
    '{"type":"module","exports":{".":"./index.js","./http":"./http.js","./execution":"./execution.js"}}',
  'package.json': '{"type":"module"}',
};

test.skipIf(spawnSync('curl', ['--version']).status !== 0)(
  'an iteration of the k6 script makes a payout, and finds it',
  async () => {
    const { url } = await serveInProcess();
    const folder = suite('load', MODULES_OF_K6);
    const script = `globalThis.__ENV = { PAYOUT_URL: '${url}' }; (await import('${join(folder, 'k6.js')}')).default();`;
    const program = new Program(process.execPath, ['--input-type=module', '-e', script], {});
    expect(await program.ended).toMatchObject({
      code: 0,
      stdout: 'it is taken true\nit is known true\n',
      stderr: '',
    });
  },
);

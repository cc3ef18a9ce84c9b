import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { inspect } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import type * as Library from '../../src/index.ts';
import { ask, Program, startProgram } from '../support/program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** The files that `npm pack` puts into the package. */
let shipped: readonly string[];
let packedBytes: number;

beforeAll(() => {
  const npm = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { encoding: 'utf8' });
  const [{ files, size }] = JSON.parse(npm.stdout) as [{ files: { path: string }[]; size: number }];
  shipped = files.map(({ path }) => path);
  packedBytes = size;
});

/** A folder in which only the package is installed. */
function installPackage(): { readonly folder: string; readonly main: string } {
  const folder = temporaryFolder();
  const root = join(folder, 'node_modules/payout-sandbox');
  for (const file of shipped) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    cpSync(file, join(root, file));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  return { folder, main: join(root, 'dist/main.cjs') };
}

test('the package ships the program, the library, its types, the scenarios and the documentation, and nothing else', () => {
  const expected = [
    /^(?:CHANGELOG|CONTRIBUTING|README|SECURITY)\.md$|^LICENSE$|^package\.json$/,
    /^dist\/(?:[\w-]+\.c?js|(?:index|matchers|controlled-world)\.d\.c?ts|THIRD-PARTY-LICENSES\.txt|sbom\.cdx\.json)$/,
    /^dist\/dashboard\/(?:index\.html|assets\/[\w.-]+\.(?:(?:js|css)(?:\.gz)?|svg|woff2))$/,
    /^dist\/docs\/|^docs\//,
    /^fixtures\/(?:scenarios|dialects|init)\/[\w./-]+\.(?:yaml|js|ts)$/,
    /^fixtures\/(?:magic\.yaml|openapi-examples\.json|scenario\.schema\.json)$/,
  ];
  expect(shipped.filter((path) => !expected.some((known) => known.test(path)))).toEqual([]);
  for (const known of expected) expect(shipped.some((path) => known.test(path))).toBe(true);
  expect(packedBytes).toBeLessThan(2e6);
  expect(shipped.filter((path) => path.startsWith('fixtures/scenarios/'))).toHaveLength(
    readdirSync('fixtures/scenarios').length,
  );
});

test('every link of a shipped page leads to a shipped file, or to pictures and pages for operators and maintainers', () => {
  const pages = shipped.filter((path) => path.endsWith('.md'));
  const links = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, target]) =>
      normalize(join(dirname(page), target!)),
    ),
  );
  const isShipped = (path: string) => shipped.some((file) => file === path || file.startsWith(`${path}/`));
  const inTheRepository = /^docs\/(?:images|internals|operate)\//;
  expect(shipped.filter((path) => inTheRepository.test(path))).toEqual([]);
  expect(links.filter((path) => !isShipped(path) && !inTheRepository.test(path))).toEqual([]);
});

test('the library exports exactly these names, with import and with require', async () => {
  const names = [
    'ExpectationError',
    'HuntError',
    'NoSandboxError',
    'SandboxError',
    'SettingsError',
    'UnknownResultError',
    'connectSandbox',
    'hunt',
    'startSandbox',
  ];
  const imported = (await import(resolve('dist/index.js'))) as object;
  const required = createRequire(import.meta.url)(resolve('dist/index.cjs')) as object;
  expect([imported, required].map((library) => Object.keys(library).toSorted())).toEqual([names, names]);
});

test('an error of the library prints under its name, without the bundled code around it', async () => {
  const { startSandbox } = (await import(resolve('dist/index.js'))) as typeof Library;
  const error: unknown = await startSandbox({ port: 'x' }).catch((thrown: unknown) => thrown);
  expect(inspect(error)).toMatch(/^SettingsError: port must be /);
  const longest = Math.max(
    ...readFileSync('dist/index.js', 'utf8')
      .split('\n')
      .map(({ length }) => length),
  );
  expect(longest).toBeLessThan(4000); // Node.js shows the line that threw
});

test('the package has no dependencies', () => {
  const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  ) as Record<string, unknown>;
  expect([dependencies, peerDependencies, optionalDependencies]).toEqual([undefined, undefined, undefined]);
});

interface Locked {
  readonly version: string;
  readonly dependencies?: Record<string, string>;
}

interface Bill {
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

test('the package says which packages are bundled in it: in an SBOM, and with their licenses', () => {
  const { components } = JSON.parse(readFileSync('dist/sbom.cdx.json', 'utf8')) as Bill;
  const bundled = components.map(({ name, version }) => `${name} ${version}`);
  const licenses = readFileSync('dist/THIRD-PARTY-LICENSES.txt', 'utf8');
  const licensed = [...licenses.matchAll(/^-{80}\n\n(\S+ [\d.]+) \([\w.-]+\)\n\n.{60}/gms)];
  expect(new Set(licensed.map(([, heading]) => heading))).toEqual(new Set(bundled));
  expect(licenses).toContain('The Inter Project Authors'); // the font of the dashboard

  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  const source = files.map((file) => readFileSync(join('src', file), 'utf8')).join('\n');
  const imports = source.matchAll(/^(?:import (?!type)|\}).* from '((?!\.|node:)(?:@[^/]+\/)?[^'/]+)/gm);
  const needed = new Set([...imports].map(([, name]) => name!));
  expect([...needed].filter((name) => !components.some((one) => one.name === name))).toEqual([]);
  needed.add('pino-pretty'); // loaded on demand
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> };
  const all = Object.entries(lock.packages).map(
    ([path, one]) => [path.split('node_modules/').at(-1)!, one] as const,
  );
  for (const name of needed)
    for (const [, { dependencies = {} }] of all.filter(([other]) => other === name))
      Object.keys(dependencies).forEach((other) => needed.add(other));
  const known = new Set(all.map(([name, { version }]) => (needed.has(name) ? `${name} ${version}` : '')));
  expect(bundled.filter((one) => !known.has(one))).toEqual([]);
});

test('the program works without any other package installed, and serves the scenario of a file', async () => {
  const { folder, main } = installPackage();
  const file = join(folder, 'mine.yaml');
  const match = '{ remarks: { matches: "^a+$" } }';
  writeFileSync(file, `# a comment\nrules: [{ name: a, match: ${match}, effect: { respond: 402 } }]`);
  const { program, url } = await startProgram({}, [file], main);
  const pay = (remarks: string) => ask(`${url}/payout/initiate`, 'sk_test_a', { remarks });
  expect((await pay('aaa')).status).toBe(402);
  expect(await (await pay('b')).json()).toMatchObject({ status: 'success', data: { utr: null } });
  expect(await program.stop()).toMatchObject({ code: 0, stderr: '' });
});

/** Other compilers and kinds of modules: .ci/check-consumers. */
test('a project in TypeScript accepts the types, and its output runs without any other package', async () => {
  const { folder } = installPackage();
  const compilerOptions = {
    module: 'nodenext',
    strict: true,
    target: 'es2022',
    types: [],
    skipDefaultLibCheck: true,
  };
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text);
  write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['right.ts', 'wrong.ts'] }));
  cpSync('.ci/consumers/module.ts', join(folder, 'right.ts'));
  write(
    'wrong.ts',
    `import { startSandbox } from 'payout-sandbox';
    void startSandbox({ settlement: 'never' });
    void startSandbox({ setlement: 'manual' });
    export const world = async (): Promise<string> => (await startSandbox()).world();
    export const paid = async () => (await startSandbox()).world().waitFor('order-1', 'DONE');`,
  );
  const tsc = resolve('node_modules/typescript/bin/tsc');
  const { stdout } = await new Program(process.execPath, [tsc, '-p', folder], {}).ended;
  const errors = [...stdout.matchAll(/^(.*)\((\d+),\d+\): error/gm)].map(
    ([, file, line]) => `${basename(file!)}:${line}`,
  );
  expect(errors).toEqual(['wrong.ts:2', 'wrong.ts:3', 'wrong.ts:4', 'wrong.ts:5']);
  const right = new Program(process.execPath, [join(folder, 'right.js')], {});
  expect(await right.ended).toEqual({ code: 0, signal: null, stdout: 'true 0\n', stderr: '' });
});

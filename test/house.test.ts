import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../src/platform/system-clock.ts';
import { filesOfInitiate } from './support/files-run.ts';
import { clientOf } from './support/sandbox.ts';
import { serverFor } from './support/server.ts';

/** The rules of the code, one test for each. A failing test lists the files that break its rule. */

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface SourceFile {
  /** Its path below src: `world/clock.ts` */
  readonly name: string;
  /** `world`; a file at the top of src is a layer of its own: `app.ts` */
  readonly layer: string;
  /** Without its comments. */
  readonly code: string;
  /** Its imports: files as `world/clock.ts`, packages by name. */
  readonly imports: readonly string[];
}

const layerOf = (name: string): string => name.split('/')[0]!;

/** The paths of all files below a folder of the project. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(ROOT, folder), join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .toSorted();

const files: readonly SourceFile[] = filesBelow('src')
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => {
    const text = readFileSync(join(ROOT, 'src', name), 'utf8');
    const code = text.replaceAll(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
    const imports = [...code.matchAll(/\b(?:from|import)\s*\(?\s*'([\w@./:-]+)'/g)].map(([, specifier]) =>
      specifier!.startsWith('.') ? posix.join(dirname(name), specifier!) : specifier!,
    );
    return { name, layer: layerOf(name), code, imports };
  });
const names = new Set(files.map(({ name }) => name));
const isOwn = (specifier: string): boolean => names.has(specifier);
const isPackage = (specifier: string): boolean =>
  !isOwn(specifier) && !/\.(css|json|yaml|tsx?|svg)$/.test(specifier);

const PACKAGE_FILES = 'package-files.ts';
const BELOW_WORLDS = ['contract', 'payout', 'scenario', 'world'];
const BELOW_HTTP = [...BELOW_WORLDS, 'worlds', 'referee'];
const BELOW_APP = [...BELOW_HTTP, 'http', 'platform', PACKAGE_FILES, 'settings.ts'];
const BELOW_CLI = [...BELOW_APP, 'app.ts', 'server.ts', 'removed.ts'];

/** Which other layers each may import: contract ← payout ← scenario ← world ← worlds ← store, referee ← http, platform ← app ← cli. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  [PACKAGE_FILES]: [],
  'removed.ts': [],
  contract: [],
  payout: ['contract'],
  scenario: ['contract', 'payout', PACKAGE_FILES],
  world: ['contract', 'payout', 'scenario'],
  worlds: BELOW_WORLDS,
  store: [...BELOW_WORLDS, 'worlds'],
  referee: BELOW_WORLDS,
  http: BELOW_HTTP,
  platform: [...BELOW_HTTP, 'store', PACKAGE_FILES, 'settings.ts'],
  'app.ts': [...BELOW_APP, 'store'],
  'server.ts': [...BELOW_APP, 'app.ts'],
  actions: ['contract', 'payout', 'scenario', 'world', 'referee', 'client', PACKAGE_FILES, 'settings.ts'],
  cli: [...BELOW_CLI, 'actions', 'client', 'trials'],
  'main.ts': ['cli'],
  'index.ts': [...BELOW_CLI, 'client', 'trials'],
  'matchers.ts': ['contract', 'client'],
  'settings.ts': ['contract', 'payout', 'scenario'],
  client: ['contract'],
  trials: ['contract', 'payout', 'worlds', 'referee', 'client'],
  dashboard: ['contract', 'client'],
};

/** Which packages each layer may import. `node:*` stands for all of Node's own. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  [PACKAGE_FILES]: ['node:fs', 'node:path'],
  contract: ['zod', 'fastest-levenshtein'],
  payout: ['node:crypto'],
  scenario: ['zod', 'yaml', 're2js', 'lru-cache', 'node:fs', 'node:path'],
  world: ['zod', 'tinyqueue', 'node:http'], // node:http for the words of HTTP statuses
  worlds: ['zod', 'lru-cache', 'node:crypto', 'node:util'],
  store: ['zod', 'iovalkey'],
  referee: ['zod', 'lru-cache'],
  http: [
    'fastify',
    'fastify-plugin',
    '@fastify/rate-limit',
    'fastify-type-provider-zod',
    'zod',
    'pino',
    'lru-cache',
    'async-mutex',
    'node:*',
  ],
  platform: ['fastify', 'pino', 'pino-pretty', 'prom-client', 'zod', 'node:*'],
  'app.ts': ['node:crypto', 'fastify', 'fastify-type-provider-zod', 'pino'],
  'server.ts': ['pino', 'node:net'],
  actions: ['zod', 'node:util'],
  cli: [
    'commander',
    'pino',
    'zod',
    '@modelcontextprotocol/sdk/server/mcp.js',
    '@modelcontextprotocol/sdk/server/stdio.js',
    '@modelcontextprotocol/sdk/types.js',
    'node:*',
  ],
  'main.ts': ['node:module'],
  'index.ts': ['pino'],
  'settings.ts': ['zod'],
  client: ['eventsource-parser', 'node:http', 'node:https', 'node:net', 'node:url'],
  trials: ['zod', 'yaml'],
  dashboard: ['preact', 'preact/hooks', '@preact/signals'],
};

/** The files of scenario/ that read the disk, and the one that watches it. The others are pure. */
const READS_FILES = ['scenario/scenario-file.ts', 'scenario/scenario-library.ts'];
const WATCHES_FILES = 'scenario/scenario-library.ts';

const CLOCK = /\bDate\.now\b|\bnew Date\(\)|\bperformance\.|\bhrtime\b/;
/** `setTimeout` of a response or a socket is allowed: it sets the idle timeout of a socket. */
const TIMER =
  /(?<!\b(?:response|socket)\.)\bset(?:Timeout|Interval|Immediate)\(|\bqueueMicrotask\b|\bnode:timers\b/;
const RANDOMNESS = /\bMath\.random\b|\brandom(?:UUID|Bytes|Int|FillSync)\b|\bgetRandomValues\b/;
const WAITING = /\bPromise\b|\basync\b|\bawait\b/;

/** The lines of these files that match, each with the name of its file. */
const linesWith = (pattern: RegExp, among: readonly SourceFile[]): readonly string[] =>
  among.flatMap(({ name, code }) =>
    code
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );

test('every file belongs to a layer of the design', () => {
  expect(names).toContain('app.ts'); // otherwise there would be nothing to check
  expect(files.filter(({ layer }) => MAY_IMPORT[layer] === undefined).map(({ name }) => name)).toEqual([]);
});

test('imports point one way, from the command line down to the contract', () => {
  const upward = files.flatMap(({ name, layer, imports }) =>
    imports
      .filter(isOwn)
      .filter((target) => layerOf(target) !== layer && !MAY_IMPORT[layer]?.includes(layerOf(target)))
      .map((target) => `${name} imports ${target}`),
  );
  expect(upward).toEqual([]);
});

test('no import cycles exist', () => {
  const importsOf = new Map(files.map(({ name, imports }) => [name, imports.filter(isOwn)]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const follow = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) cycles.push([...path.slice(path.indexOf(name)), name].join(' → '));
    if (path.includes(name) || done.has(name)) return;
    for (const target of importsOf.get(name)!) follow(target, [...path, name]);
    done.add(name);
  };
  for (const name of names) follow(name, []);
  expect(cycles).toEqual([]);
});

test('each layer imports only the packages that it may', () => {
  const foreign = files.flatMap(({ name, layer, imports }) => {
    const known = MAY_USE[layer] ?? [];
    const mayUse = (specifier: string): boolean =>
      known.includes(specifier) || (specifier.startsWith('node:') && known.includes('node:*'));
    return imports
      .filter((specifier) => isPackage(specifier) && !mayUse(specifier))
      .map((specifier) => `${name} imports ${specifier}`);
  });
  expect(foreign).toEqual([]);
});

test('payout uses only the hash of node:crypto, and only the file readers of scenario use the disk', () => {
  const crypto = linesWith(/'node:crypto'/, files).filter(
    (line) => line.startsWith('payout/') && !/import \{ (?:hash|createHash) \} from/.test(line),
  );
  const disk = linesWith(/'node:(?:fs|path)'/, files).filter(
    (line) => line.startsWith('scenario/') && !READS_FILES.some((name) => line.startsWith(`${name}:`)),
  );
  expect([...crypto, ...disk]).toEqual([]);
});

test('the layers below worlds use no promises', () => {
  const below = files.filter(({ name, layer }) => BELOW_WORLDS.includes(layer) && name !== WATCHES_FILES);
  expect(linesWith(WAITING, below)).toEqual([]);
});

test('only platform/system-clock.ts and the dashboard read the system clock', () => {
  const others = files.filter(
    ({ name, layer }) => name !== 'platform/system-clock.ts' && layer !== 'dashboard',
  );
  expect(linesWith(CLOCK, others)).toEqual([]);
});

test('only the platform, the command line, the dashboard, waits of the library and the watcher of files set timers', () => {
  const mayWait = new Set(['platform', 'cli', 'dashboard', WATCHES_FILES, 'client/payout-wait.ts']);
  const others = files.filter(({ name, layer }) => !mayWait.has(layer) && !mayWait.has(name));
  expect(linesWith(TIMER, others)).toEqual([]);
});

test('only secrets, the names of servers and the keys that a client generates are random', () => {
  const mayDraw = new Set(['app.ts', 'cli/join-point.ts', 'client/sandbox.ts', 'platform/self-signed.ts']);
  const others = files.filter(({ name }) => !mayDraw.has(name));
  expect(linesWith(RANDOMNESS, others)).toEqual([]);
});

test('the client of the library and the dashboard import only types and words from the contract', () => {
  const light = files.filter(({ layer }) => layer === 'client' || layer === 'dashboard');
  const values = light.flatMap(({ name, code }) =>
    [...code.matchAll(/^(?:import|export) (?!type\b)[^;]*'[^']*\/contract\/(?!words\.ts)[^']*';/gm)].map(
      ([statement]) => `${name}: ${statement.replaceAll(/\s+/g, ' ')}`,
    ),
  );
  expect(values).toEqual([]);
});

test('file names are words in kebab-case, without catch-all names such as utils', () => {
  const isNamed = (name: string): boolean =>
    /^(?:[a-z]+(?:-[a-z]+)*\/)*[a-z]+(?:-[a-z]+)*\.tsx?$/.test(name) &&
    !/util|helper|common|manager|misc/.test(name);
  expect([...names].filter((name) => !isNamed(name))).toEqual([]);
});

test('folders of tests are named like those of src', () => {
  // docs compares the documents with the program; trials are the long tests of .ci/full
  const isKnown = (path: string): boolean =>
    path === 'house.test.ts' ||
    /^(?:docs|trials)\/[^/]*$/.test(path) ||
    [...names].some((name) => name.startsWith(`${dirname(path)}/`));
  const tests = filesBelow('test').filter((path) => path.endsWith('.test.ts'));
  expect(tests.filter((path) => !isKnown(path))).toEqual([]);
});

const MAX_FILES_OF_INITIATE = 30;
const MAX_LINES_OF_INITIATE = 4500;

test('an initiate in memory runs functions of few files, which architecture.md lists, with few lines', async () => {
  const { sandbox } = await serverFor({}, systemClock());
  const run = await filesOfInitiate(clientOf(sandbox.world()));
  const page = readFileSync(join(ROOT, 'docs/internals/architecture.md'), 'utf8');
  const [list] = page.split('as V8 counts them').at(-1)!.split('`http/service/rule-effects.ts`');
  expect([...list!.matchAll(/`(\S+\.ts)`/g)].map(([, name]) => name)).toEqual(['test/house.test.ts', ...run]);
  expect(run.length).toBeLessThanOrEqual(MAX_FILES_OF_INITIATE);
  const lines = run.map((name) => readFileSync(join(ROOT, 'src', name), 'utf8').split('\n').length - 1);
  expect(lines.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(MAX_LINES_OF_INITIATE);
});

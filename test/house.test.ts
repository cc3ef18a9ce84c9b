import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { expect, test } from 'vitest';

const SRC = new URL('../src/', import.meta.url).pathname;

interface SourceFile {
  /** `domain/world.ts` */
  readonly name: string;
  /** `domain`; the files at the top are rooms of their own: `app.ts` */
  readonly room: string;
  readonly text: string;
  readonly lines: number;
  /** What it imports: files as `domain/world.ts`, packages as they are called. */
  readonly imports: readonly string[];
}

const files: readonly SourceFile[] = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => {
    const text = readFileSync(join(SRC, name), 'utf8');
    const imports = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, specifier]) =>
      specifier!.startsWith('.') ? posix.join(dirname(name), specifier!) : specifier!,
    );
    return { name, room: name.split('/')[0]!, text, lines: text.split('\n').length, imports };
  });

const roomOf = (specifier: string): string => specifier.split('/')[0]!;
const isOwn = (specifier: string): boolean => files.some(({ name }) => name === specifier);

/** Which rooms a room may use. `app.ts` knows everybody; nobody but those above it knows `app.ts`. */
const MAY_USE: Record<string, readonly string[]> = {
  contract: ['contract'],
  domain: ['contract', 'domain', 'ledger'],
  ledger: ['contract', 'domain', 'ledger'],
  http: ['contract', 'domain', 'ledger', 'http', 'settings.ts', 'lazy-packages.ts'],
  control: ['contract', 'domain', 'ledger', 'http', 'control'],
  openapi: ['contract', 'http', 'openapi'],
  client: ['contract', 'client'],
  dashboard: ['contract', 'client', 'dashboard'],
  runtime: [
    'contract',
    'domain',
    'openapi',
    'runtime',
    'settings.ts',
    'server.ts',
    'lazy-packages.ts',
    'package-files.ts',
  ],
  'lazy-packages.ts': [],
  'package-files.ts': [],
  'settings.ts': ['contract', 'domain', 'setting-texts.ts'],
  'setting-texts.ts': ['contract', 'domain'],
  'app.ts': ['contract', 'domain', 'ledger', 'http', 'control', 'openapi', 'runtime', 'settings.ts'],
  'server.ts': ['app.ts', 'domain', 'runtime', 'settings.ts'],
  'index.ts': ['client', 'contract', 'runtime', 'server.ts', 'settings.ts'],
  'core.ts': ['index.ts', 'runtime'],
  'main.ts': ['core.ts', 'runtime'],
};

test('the house has files to look at', () => {
  expect(files.length).toBeGreaterThan(20);
  expect(files.find(({ name }) => name === 'app.ts')!.imports).toContain('ledger/memory.ts');
});

test.each(files)('$name uses only the rooms that its own may use', ({ room, imports }) => {
  const foreign = imports.filter(isOwn).filter((specifier) => !MAY_USE[room]!.includes(roomOf(specifier)));
  expect(foreign).toEqual([]);
});

test.each(files.filter(({ room }) => room === 'contract'))(
  '$name uses zod and nothing else',
  ({ imports }) => {
    expect(imports.filter((specifier) => !isOwn(specifier) && specifier !== 'zod')).toEqual([]);
  },
);

test.each(files.filter(({ room }) => room === 'domain' || room === 'ledger'))(
  '$name knows neither Fastify nor Node',
  ({ imports }) => {
    expect(imports.filter((specifier) => !isOwn(specifier))).toEqual([]);
  },
);

test.each(files.filter(({ room }) => room === 'domain' || room === 'control' || room === 'http'))(
  '$name knows the seam, not what is behind it',
  ({ imports }) => {
    const seams = imports.filter((specifier) => specifier.startsWith('ledger/'));
    expect(seams.filter((specifier) => specifier !== 'ledger/ledger.ts')).toEqual([]);
  },
);

test.each(files.filter(({ room }) => room === 'dashboard'))(
  '$name brings little along, and of the contract only its types',
  ({ text, imports }) => {
    const packages = imports.filter((specifier) => !specifier.startsWith('.') && !isOwn(specifier));
    const known = new Set(['preact', 'preact/hooks', '@preact/signals', 'uplot']);
    expect(packages.filter((specifier) => !known.has(specifier))).toEqual([]);
    expect(text).not.toMatch(/^import (?!type)[^;]*contract\//m); // zod alone would double the page
  },
);

const AMBIENT =
  /\bDate\.now\b|new Date\(\)|\bperformance\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b|\bprocess\.hrtime\b/;
const DICE = /\bMath\.random\b|\brandomUUID\b|\brandomBytes\b/;

// the page runs in a browser, where no world is decided: it may look at the clock there
test.each(files.filter(({ room }) => room !== 'runtime' && room !== 'dashboard'))(
  '$name does not read the time from the system',
  ({ text }) => {
    expect(text.split('\n').filter((line) => AMBIENT.test(line))).toEqual([]);
  },
);

test('chance comes from the seed alone, but for the admin token and the keys that a client invents', () => {
  const dice = files.filter(({ text }) => DICE.test(text));
  expect(dice.map(({ name }) => name).toSorted()).toEqual(['client/connect.ts', 'runtime/admin-token.ts']);
});

test.each(files.filter(({ room }) => room === 'client'))(
  '$name runs wherever there is fetch',
  ({ imports }) => {
    expect(imports.filter((specifier) => !isOwn(specifier))).toEqual([]);
  },
);

test.each(files)('$name is short enough to be read at once', ({ lines }) => {
  expect(lines).toBeLessThanOrEqual(300);
});

test('names are nouns in kebab-case, and nothing is a drawer for everything', () => {
  for (const { name } of files) {
    expect(name).toMatch(/^([a-z]+\/)?[a-z]+(-[a-z]+)*\.tsx?$/);
    expect(name).not.toMatch(/util|helper|common|manager|misc/);
  }
});

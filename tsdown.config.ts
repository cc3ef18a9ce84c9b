import { resolve } from 'node:path';
import { defineConfig, type UserConfig } from 'tsdown';
import { asciiOnly } from './build/ascii-only.ts';
import { eagerModules } from './build/eager-modules.ts';
import * as ownGlobals from './build/own-globals.ts';
import { bundledPackages } from './build/bundled-packages.ts';
import { lateModules } from './build/late-modules.ts';
import { plainExports } from './build/plain-exports.ts';
import { yamlModules } from './build/yaml-modules.ts';

const { warn } = console;
/** Leaves out what rolldown-plugin-dts says at each build about `tsgo`: whoever installs the package can do nothing about it. */
Object.assign(console, {
  warn: (...words: readonly unknown[]): void => {
    if (!String(words[0]).startsWith('The `tsgo` option is experimental')) warn(...words);
  },
});

/** In `dist` without tsdown: what vite puts into the dashboard. */
const BUNDLED_ELSEWHERE = ['@preact/signals', '@preact/signals-core', 'preact'];

/** Puts Node's own globals in the place of those that tests replace. */
const inject = Object.fromEntries(
  Object.keys(ownGlobals).map((name) => [
    name === 'nextTick' ? 'process.nextTick' : name,
    [resolve('build/own-globals.ts'), name] as [string, string],
  ]),
);

/** ES modules, without what these packages have for diagnostics in Node.js: a start loads less. */
const alias = {
  'lru-cache': resolve('node_modules/lru-cache/dist/esm/browser/index.js'),
  yaml: resolve('node_modules/yaml/browser/dist/index.js'),
};

const common = {
  platform: 'node',
  target: 'node20.19',
  minify: { mangle: false, compress: true, codegen: { removeWhitespace: false } }, // a stack trace can be read
  inputOptions: {
    transform: { inject },
    resolve: { alias },
  },
  outputOptions: { comments: { jsdoc: false } }, // in the types they stay
  failOnWarn: false, // it warns of CommonJS, which is meant here; in CI that would end the build
  fixedExtension: false, // `index.js` is ESM, as package.json says
  hash: false,
  noExternal: /./, // whoever installs the package installs nothing else
  inlineOnly: false,
  // Fastify loads these only for JSON Schemas that no compiler of ours takes, and for `app.inject`
  external: ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'],
  dts: { tsgo: { path: 'node_modules/typescript/bin/tsc' } }, // the compiler of TypeScript 7
  banner: { dts: '// @ts-nocheck' }, // the types of zod have such comments, which the bundling drops
} satisfies UserConfig;

/** What many commands load. */
const ofEach =
  /src.(?:cli.(?:command-line|stop-signal)|package-files|platform.system-clock|payout.money|world.journal.journal-text|referee.reports.terminal)\.ts$/;

/** What only patterns and texts of users need. */
const LATE = ['re2js', 'yaml'];

export default defineConfig([
  {
    ...common,
    format: 'cjs', // the program too: Node.js starts CommonJS sooner
    entry: { index: 'src/index.ts', main: 'src/main.ts', matchers: 'src/matchers.ts' },
    plugins: [
      yamlModules(),
      bundledPackages(BUNDLED_ELSEWHERE),
      plainExports(),
      eagerModules(),
      lateModules(...LATE.map((name) => `./${name}.cjs`), 'node:http2', 'node:https'), // Fastify requires both at once
      asciiOnly(),
    ],
    // what a start loads, in five files instead of twenty: each takes a millisecond, and one of all would take 3 MB more to read
    outputOptions: {
      ...common.outputOptions,
      codeSplitting: {
        groups: [
          ...LATE.map((name) => ({
            name,
            test: new RegExp(`node_modules.${name}`),
            priority: 3,
            includeDependenciesRecursively: false,
          })),
          { name: 'command-line', test: ofEach, priority: 2 },
          { name: 'domain', test: /src.(?:payout.|scenario.|referee.judge|world.ledger)/, priority: 1 },
          { name: 'fastify', test: /node_modules.@?fastify/, priority: 1 },
          { name: 'serve', test: /src.cli.serve\.ts$/ },
        ],
      },
    },
  },
  {
    ...common,
    format: 'esm',
    entry: { index: 'src/index.ts', matchers: 'src/matchers.ts' },
    plugins: [yamlModules(), asciiOnly()],
  },
]);

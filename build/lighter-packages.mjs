// What the bundle leaves out of other people's packages, or puts off, so that the program starts fast. Each entry says
// why nothing misses it. `test/package.test.ts` runs the bundle where no package is installed.

import { readFile } from 'node:fs/promises';

/** Packages in files of their own, which `src/lazy-packages.ts` loads at their first use. */
export const LAZY = ['fast-json-stringify', 'fastest-levenshtein', 'prom-client', 're2js', 'yaml'];

/** For what is never called here: it says so, should that ever change. */
const leftOut = (what) => `
  const leftOut = () => { throw new Error(${JSON.stringify(`${what} is not in the bundle`)}); };
  module.exports = new Proxy(leftOut, { get: () => leftOut });
`;

/** An assertion that holds needs no more than to be looked at; Node's own also brings colours and diffs. */
const ASSERT = `
  module.exports = (holds, ...rest) => { if (!holds) require('node:assert')(holds, ...rest); };
`;

/** Packages as they are in the bundle, by name. */
const INSTEAD = {
  // Fastify loads them with every start, and uses them for TLS and HTTP/2, which the sandbox does not speak
  'node:https': leftOut('HTTPS'),
  'node:http2': leftOut('HTTP/2'),
  // Fastify loads them for schemas that no compiler of ours takes (see http/schemas.ts), and for `app.inject`
  '@fastify/ajv-compiler': leftOut('ajv'),
  '@fastify/fast-json-stringify-compiler': leftOut("Fastify's serializer compiler"),
  'light-my-request': leftOut('app.inject'),
  // @fastify/rate-limit groups IP addresses with it; our limits go by key
  'ip-address': leftOut('ip-address'),
  // pino writes its log in another thread with it; ours writes in its own
  'thread-stream': leftOut('thread-stream'),
  assert: ASSERT,
  'node:assert': ASSERT,
  // a clock that Node loads when it is first looked at
  'node:perf_hooks': 'module.exports = { performance: { now: () => performance.now() } };',
  // Fastify asks whether a plugin wants its version: known at the build, and asked by each test that runs from the source
  semver: 'module.exports = { satisfies: () => true };',
};

const OF_A_PACKAGE = /node_modules/;

export const lighterPackages = {
  name: 'lighter packages',
  setup(build) {
    const names = Object.keys(INSTEAD).map((name) => name.replaceAll('/', '\\/'));
    build.onResolve({ filter: new RegExp(`^(${names.join('|')})$`) }, ({ path, importer }) => {
      if (!OF_A_PACKAGE.test(importer)) return undefined; // the sandbox itself gets the whole
      return { path, namespace: 'instead' };
    });
    build.onLoad({ filter: /.*/, namespace: 'instead' }, ({ path }) => ({ contents: INSTEAD[path] }));
    // `z.object` of a namespace can be told apart from what is not used; of an object it cannot
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text.replace(/^import \{ z \} from 'zod';/m, "import * as z from 'zod';");
      return { contents, loader: 'ts' };
    });
  },
};

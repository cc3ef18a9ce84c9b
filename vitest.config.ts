import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { yamlModules } from './build/yaml-modules.ts';

/** Compile clients of the OpenAPI document, which takes longer than any other test: only with TESTS=long. */
const LONG_STORIES = 'test/{http/openapi/typed-client,docs/typescript-recipe}.test.ts';
/** The stories that speak to a sandbox over HTTP: with TESTS=long they are told once more with worlds in a store. */
const STORED_STORIES = ['test/http/{control,service}/*.test.ts', 'test/client/*.test.ts'];
/** Counts the timers of one process. */
const NOT_STORED = 'test/http/service/fault-leaks.test.ts';
/** The tests of the log in a store, which start a store of their own. */
const STORE_TESTS = 'test/log/valkey/**/*.test.ts';
/** Ends nodes of a cluster and moves its slots, and builds another version of the program: only with TESTS=long. */
const LONG_STORE_TESTS = 'test/log/valkey/{failover,rolling-upgrade}.test.ts';
const isLong = process.env['TESTS'] === 'long';

/** One project after the other, since a worker is ended when its next file is of another one. */
const PROJECTS = ['valkey', 'memory'];
/** These take longest, so they begin first: none of them is left alone at the end. */
const SLOWEST =
  /\/(outages|chaos|failover-single|shared-worlds|dashboard(-\w+)?|clients|hunt|referee|recipes-run|tutorial|docs|package|fault-leaks|faults|magic|events|state-file|log|stopping|properties|world-model)\.test\.ts$/;

/** Files in a random order within their project, the slowest first. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const random = (name: string): string => createHash('sha256').update(`${seed} ${name}`).digest('hex');
    const rank = ({ moduleId, project }: TestSpecification): string =>
      `${PROJECTS.indexOf(project.name)} ${SLOWEST.test(moduleId) ? 0 : 1} ${random(moduleId)}`;
    return files.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  }
}

export default defineConfig({
  plugins: [yamlModules()],
  test: {
    testTimeout: isLong ? 300_000 : 120_000, // a slow machine is no failure, nor is one that stalls for ten seconds
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { shuffle: true, sequencer: SlowestFirst },
    maxWorkers: Math.max(3, availableParallelism()), // tests wait a third of their time, for programs, timers and the browser
    isolate: false, // files share the modules of their worker: loading them anew for each took 40 s of processor time
    server: { deps: { external: [/\/dist\//] } }, // what the build wrote is run as it is
    projects: [
      {
        extends: true,
        test: {
          name: 'memory',
          include: ['test/**/*.test.ts'],
          exclude: ['test/trials/*.test.ts', STORE_TESTS, ...(isLong ? [] : [LONG_STORIES])],
          globalSetup: ['test/support/build.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'valkey', // worlds are in a store that the tests start
          include: [STORE_TESTS, ...(isLong ? STORED_STORIES : [])],
          exclude: [NOT_STORED, ...(isLong ? [] : [LONG_STORE_TESTS])],
          setupFiles: ['test/support/store/store-passage.ts'],
          globalSetup: ['test/support/build.ts', 'test/support/store/shared-store.ts'],
        },
      },
    ],
  },
});

import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { yamlModules } from './build/yaml-modules.ts';
import { hasRedisServer } from './test/support/store/redis-server.ts';

/** Ends nodes of a cluster and moves its slots: only with TESTS=long. */
const LONG_STORE_TEST = 'test/log/valkey/failover.test.ts';
/** Those that need redis-server, where it is missing. */
const STORE_TESTS = hasRedisServer
  ? []
  : ['test/log/valkey/!(notes|store-connection|unsent-refusals|world-list).test.ts'];
const isLong = process.env['TESTS'] === 'long';

const SETUP = {
  setupFiles: ['test/support/store/store-passage.ts'],
  globalSetup: ['test/support/build.ts', 'test/support/store/shared-store.ts'],
};
const ALL = {
  name: 'all',
  include: ['test/**/*.test.ts'],
  exclude: ['test/trials/*.test.ts', ...STORE_TESTS, ...(isLong ? [] : [LONG_STORE_TEST])],
};
/** The stories that speak to a sandbox over HTTP are told once more, with worlds in a store: only with TESTS=long. */
const STORED = {
  name: 'stored',
  include: ['test/http/{control,service}/*.test.ts', 'test/client/*.test.ts'],
  exclude: ['test/http/service/fault-leaks.test.ts'], // counts the timers of one process
  provide: { isStored: true },
};
/** In the short form there is only one, since a worker is ended when its next file is of another project. */
const PROJECTS = isLong && hasRedisServer ? [STORED, ALL] : [ALL];

/** These take longest, so they begin first: none of them is left alone at the end. */
const SLOWEST =
  /\/(outages|chaos|failover-single|shared-worlds|dashboard(-\w+)?|clients|hunt|referee|recipes-run|tutorial|docs|package|fault-leaks|faults|magic|events|state-file|log|stopping|properties|world-model)\.test\.ts$/;

/** Files in a random order within their project, the slowest first. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const random = (name: string): string => createHash('sha256').update(`${seed} ${name}`).digest('hex');
    const rank = ({ moduleId, project }: TestSpecification): string =>
      `${project.name === STORED.name ? 0 : 1} ${SLOWEST.test(moduleId) ? 0 : 1} ${random(moduleId)}`;
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
    projects: PROJECTS.map((test) => ({ extends: true, test: { ...SETUP, ...test } })), // here, else it runs once more for all
  },
});

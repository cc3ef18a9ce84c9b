import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { yamlModules } from './build/yaml-modules.ts';
import { hasBrowser } from './test/support/chromium.ts';
import { hasRedisServer } from './test/support/store/redis-server.ts';
import { BROWSER, STORE } from './test/support/what-tests-use.ts';

const isLong = process.env['TESTS'] === 'long';

/** Ends nodes of a cluster and moves its slots: only with TESTS=long. */
const LONG = 'test/store/failover.test.ts';

const TESTS = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !/^trials.[^/\\]*$/.test(name))
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => isLong || name !== LONG)
  .map((name) => ({ name, text: readFileSync(name, 'utf8') }));
const using = (what: RegExp): string[] => TESTS.filter(({ text }) => what.test(text)).map(({ name }) => name);

const without = new Set([...(hasRedisServer ? [] : using(STORE)), ...(hasBrowser ? [] : using(BROWSER))]);
/** They take so long that the last ones to run would leave a processor idle: these start first. */
const slow = [...using(BROWSER), 'test/trials/hunt/hunt.test.ts'];

/** A slow machine is no failure, nor is one that stands still for ten seconds: only what never ends reaches these. */
const MINUTES = {
  testTimeout: isLong ? 300_000 : 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};
const ALL = {
  name: 'all',
  include: TESTS.map(({ name }) => name).filter((name) => !without.has(name)),
  globalSetup: ['test/support/build.ts', 'test/support/store/shared-store.ts'],
  ...MINUTES,
};
/** The tests that speak to a sandbox over HTTP run once more, with worlds in a store: only with TESTS=long. */
const STORED = {
  name: 'stored',
  include: ['test/http/{control,service}/*.test.ts', 'test/client/*.test.ts'],
  exclude: ['test/http/service/fault-leaks.test.ts'], // counts the timers of one process
  globalSetup: ALL.globalSetup,
  provide: { isStored: true },
  ...MINUTES,
};
const PROJECTS = [...(isLong && hasRedisServer ? [STORED] : []), ALL];

/** One project after the other, since a worker is ended when its next file is of another one; within it in a random order. */
class SlowOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { seed } = this.ctx.config.sequence;
    const random = (name: string): string => createHash('sha256').update(`${seed} ${name}`).digest('hex');
    const rank = ({ moduleId, project }: TestSpecification): string => {
      const isSlow = slow.some((name) => moduleId.endsWith(name));
      return `${PROJECTS.findIndex(({ name }) => name === project.name)} ${isSlow ? 0 : 1} ${random(moduleId)}`;
    };
    return files.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1));
  }
}

export default defineConfig({
  plugins: [yamlModules()],
  test: {
    setupFiles: ['test/support/setup.ts'],
    sequence: { shuffle: true, sequencer: SlowOnesFirst },
    maxWorkers: Math.max(4, availableParallelism()), // tests wait a third of their time, for programs, timers and the browser
    isolate: false, // files share the modules of their worker: loading them anew for each took 40 s of processor time
    server: { deps: { external: [/\/dist\//] } }, // what the build wrote is run as it is
    projects: PROJECTS.map((test) => ({ extends: true, test })),
  },
});

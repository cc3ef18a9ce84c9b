// The tests that run in this process against `src`, under runner.mjs, with all mutants in the code.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { rankOf } from './chosen-tests.mjs';
import { ROOT } from './mutants.mjs';
import { WORK } from './processes.mjs';

/** What starts programs, browsers or packages runs `dist`, where there are no mutants; the rest does not use the two rooms. */
const ELSEWHERE =
  'command-line,dashboard*,docs*,house,kubernetes,log,metrics,openapi*,package,readme,readable-line,recipes*,settings,state-file-damage,stopping,typed-client,isolation,fault-leaks';

class DomainFirst extends BaseSequencer {
  async sort(files) {
    return files.toSorted(
      (a, b) => rankOf(a.moduleId) - rankOf(b.moduleId) || a.moduleId.localeCompare(b.moduleId),
    );
  }
}

const mutated = new Map(Object.entries(JSON.parse(readFileSync(`${WORK}mutated.json`, 'utf8'))));

export default defineConfig({
  root: ROOT,
  plugins: [{ name: 'mutants', enforce: 'pre', load: (id) => mutated.get(id) }],
  test: {
    include: ['test/*.test.ts'],
    exclude: [`test/{${ELSEWHERE}}.test.ts`],
    runner: 'test/mutation/runner.mjs',
    setupFiles: ['test/mutation/same-draws.mjs'],
    reporters: [{}],
    isolate: false,
    pool: 'threads',
    fileParallelism: false,
    sequence: { sequencer: DomainFirst },
    testTimeout: 10_000,
    dangerouslyIgnoreUnhandledErrors: true,
  },
});

import { defineConfig } from 'vitest/config';
import { yamlModules } from '../../build/yaml-modules.ts';

/** The tests that mutants are run against: quick ones, which need neither a build nor another process. */
export default defineConfig({
  plugins: [yamlModules()],
  test: {
    include: [
      'test/{payout,world,worlds,scenario,client,referee}/*.test.ts',
      'test/http/{control,service}/*.test.ts', // what a world responds and says of itself is tested where it is read
    ],
    exclude: ['test/http/{control/metrics,service/fault-leaks}.test.ts'], // measure the process, not a world
    setupFiles: ['test/mutation/same-draws.ts'],
    testTimeout: 30_000,
    isolate: false,
  },
});

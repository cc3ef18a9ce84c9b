import { defineConfig } from 'vitest/config';
import { yamlModules } from '../../build/yaml-modules.ts';

/** The tests that mutants are run against: quick ones, which need neither a build nor another process. */
export default defineConfig({
  plugins: [yamlModules()],
  test: {
    include: [
      'test/{payout,world,log}/*.test.ts',
      // what a world responds and says of itself is tested where it is read
      'test/http/control/{control-refusals,control-transition,control-wallet,events,explain,journal,journal-ends,refused-calls,verify}.test.ts',
      'test/http/service/{bad-input,commit,dialect,held-requests,payout,refusals,responses-from-requests}.test.ts',
      'test/referee/{judge,lost-responses,saved-traffic}.test.ts',
      'test/client/journal-forms.test.ts',
    ],
    setupFiles: ['test/mutation/same-draws.ts'],
    testTimeout: 30_000,
    isolate: false,
  },
});

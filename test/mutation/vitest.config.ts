import { defineConfig } from 'vitest/config';
import { yamlModules } from '../../build/yaml-modules.ts';

/** The tests that mutants are run against: those of the pure layers, which need neither a build nor a server. */
export default defineConfig({
  plugins: [yamlModules()],
  test: {
    include: ['test/payout/*.test.ts', 'test/world/*.test.ts'],
    setupFiles: ['test/mutation/same-draws.ts'],
    testTimeout: 30_000,
    isolate: false,
  },
});

import { defineConfig } from 'vitest/config';
import { yamlModules } from './build/yaml-modules.ts';

// The long trials: attack, soak and crash. Each is short unless its variable asks for more; `.ci/full` runs the short ones,
// `npm test` none of them. docs/internals/testing.md says what each tests.
export default defineConfig({
  plugins: [yamlModules()],
  test: {
    include: ['test/trials/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 6 * 3_600_000, // the long forms last as long as they are told to
    fileParallelism: false, // each measures memory and sockets
  },
});

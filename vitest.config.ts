import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/trials/**'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 30_000, // a slow machine is no failure
    hookTimeout: 30_000,
    sequence: { shuffle: true },
    maxWorkers: '100%', // the default leaves one core idle, which is half of a machine with two
    isolate: false, // files share the modules of their worker: loading them anew for each took 40 s of processor time
  },
});

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/trials/**'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 30_000, // a slow machine is no failure
    sequence: { shuffle: true },
  },
});

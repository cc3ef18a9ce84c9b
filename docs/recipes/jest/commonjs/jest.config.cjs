module.exports = {
  testMatch: ['**/*.test.cjs'],
  globalSetup: './start-sandbox.mjs',
  globalTeardown: './stop-sandbox.mjs',
};

export default {
  testMatch: ['**/*.test.mjs'], // jest before version 30 does not look for .mjs
  transform: {}, // no Babel: the modules run as they are
};

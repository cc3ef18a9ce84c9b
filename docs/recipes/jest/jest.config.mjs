export default {
  testMatch: ['**/*.test.mjs'], // jest does not look for .mjs by itself
  transform: {}, // no Babel: the modules run as they are
};

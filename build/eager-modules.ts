import type { Rolldown } from 'tsdown';

const MODULE = /(require_rolldown_runtime\.t\(\()\(([^()]*)\) => \{/g;

/** Wraps CommonJS modules in functions of which V8 of Node.js 20 knows that they are called at once. It reads arrow functions twice. */
export const eagerModules = (): Rolldown.Plugin => ({
  name: 'eager-modules',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle))
      if (part.type === 'chunk') part.code = part.code.replaceAll(MODULE, '$1function($2) {');
  },
});

import type { Rolldown } from 'tsdown';

/**
 * Loads what a CommonJS bundle requires when one of its exports is first used, also by synchronous code.
 *
 * @param names as they are required: `./yaml.cjs` for a chunk
 */
export const lateModules = (...names: readonly string[]): Rolldown.Plugin => ({
  name: 'late-modules',
  generateBundle(_options, bundle) {
    const required = new RegExp(String.raw`([\w$]+) = (require\("(?:${names.join('|')})"\))`, 'g');
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk') continue;
      for (const [text, variable, load] of part.code.matchAll(required)) {
        const late = `${variable} = ((loaded) => () => loaded ??= ${load})()`;
        const use = new RegExp(String.raw`(?<![\w$]|[^.]\.)${variable!.replace('$', '\\$')}\.`, 'g');
        part.code = part.code.replaceAll(use, `(${variable}()).`).replace(text, late);
      }
    }
  },
});

import type { Rolldown } from 'tsdown';

/** Loads these chunks of a CommonJS bundle when one of their exports is first used, also by synchronous code. */
export const lateChunks = (...names: readonly string[]): Rolldown.Plugin => ({
  name: 'late-chunks',
  generateBundle(_options, bundle) {
    const required = new RegExp(String.raw`([\w$]+) = (require\("\./(?:${names.join('|')})\.cjs"\))`, 'g');
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk') continue;
      for (const [text, variable, load] of part.code.matchAll(required)) {
        const late = `${variable} = ((chunk) => () => chunk ??= ${load})()`;
        part.code = part.code.replaceAll(`${variable}.`, `(${variable}()).`).replace(text, late);
      }
    }
  },
});

import type { Rolldown } from 'tsdown';

const OTHERS = /[^\0-\x7F]/g;

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Writes the bundles in ASCII, with escapes for all other characters. One of them would make V8 keep the whole text of a bundle with
 * two bytes for each character, which takes longer to read and twice as much memory.
 */
export const asciiOnly = (): Rolldown.Plugin => ({
  name: 'ascii-only',
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk' || !/\.c?js$/.test(part.fileName)) continue;
      const after = /\\[^\0-\x7F]/.exec(part.code); // the backslash would escape that of the escape
      if (after !== null) throw new Error(`${part.fileName} has a backslash before ${escaped(after[0][1]!)}`);
      part.code = part.code.replaceAll(OTHERS, escaped);
    }
  },
});

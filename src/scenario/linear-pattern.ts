import { RE2JS } from 're2js';

/**
 * Makes a test of a regular expression, or says what is wrong with it. Expressions have RE2's syntax (no look-around, no
 * back-references) and running time, which is linear in the text whatever the expression, since users write them. `find`
 * runs the NFA; the DFA behind `test` is faster on average, but building its states takes ten times as long on hostile
 * texts.
 */
export function linearPattern(
  pattern: string,
): { readonly test: (text: string) => boolean } | { readonly error: string } {
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

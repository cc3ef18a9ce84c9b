import { RE2JS } from 're2js';
import type { PatternOf } from './rule-compiler.ts';

/**
 * Regular expressions in RE2's syntax and running time: linear in the text, whatever the expression, since users write
 * them. RE2 has no look-around and no back-references. `find` runs the NFA; the DFA behind `test` is faster on average,
 * but building its states takes ten times as long on hostile texts.
 */
export const linearPattern: PatternOf = (pattern) => {
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

import { RE2JS } from 're2js';
import type { PatternOf } from './rule-compiler.ts';

/**
 * Regular expressions in RE2's syntax and running time: linear in the text, whatever the expression, since they come from
 * files. Look-around and back-references do not exist there, and are refused.
 */
export const linearPattern: PatternOf = (pattern) => {
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

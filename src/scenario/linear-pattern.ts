import type { PatternOf } from './rule-compiler.ts';
import { lazyPackage } from '../lazy-packages.ts';

/**
 * Regular expressions in RE2's syntax and running time: linear in the text, whatever the expression, since they come from
 * files. Look-around and back-references do not exist there, and are refused.
 */
export const linearPattern: PatternOf = (pattern) => {
  try {
    const compiled = lazyPackage('re2js').RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

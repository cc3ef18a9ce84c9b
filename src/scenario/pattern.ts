import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Match } from '../contract/match.ts';

/**
 * Users write regular expressions, so what they can cost is bounded: by their number, by the length of each, and by the length of
 * the text. At these bounds, those of a scenario compile within some 15 ms and test a request within some 20 ms.
 */

/** The most in one scenario, in all overrides of one world, or in one verification. */
const MAX_PATTERNS = 20;
const MAX_PATTERN_LENGTH = 250;
/** A longer text matches no pattern. Only `remarks` and headers can be longer. */
export const MAX_PATTERN_TEXT_LENGTH = 200;

/** Classes that compile to a long table. */
const LONG_CLASS = /\\[pPW]/g;
const LONG_CLASS_LENGTH = 50;

/** `{3}`, `{3,}` or `{3,5}`, and whether it repeats a group. */
const COUNTED = /(\)?)\{(\d+)(?:,(\d*))?\}/g;

/** A range beyond ASCII in a pattern that ignores case: RE2 would look up each of its up to 120,000 characters. */
const LONG_RANGE = /\(\?[a-z-]*i.*-(?:\\x|[^\0-\x7f])/is;

/**
 * The length of a pattern with its counted repetitions written out. A repeated group multiplies the whole pattern, so that nesting
 * need not be parsed. A pattern compiles to at most twice as many instructions.
 */
export function writtenOutLength(pattern: string): number {
  let length = pattern.length + LONG_CLASS_LENGTH * (pattern.match(LONG_CLASS)?.length ?? 0);
  let groups = 1;
  for (const [, group, least, most] of pattern.matchAll(COUNTED)) {
    const copies = Math.max(1, Number(least), Number(most ?? 0));
    if (group === ')') groups *= copies;
    else length += copies;
  }
  return length * groups;
}

/** Why a pattern is not compiled, for the end of a sentence; null if it may be. */
function tooCostly(pattern: string): string | null {
  const length = writtenOutLength(pattern);
  if (length > MAX_PATTERN_LENGTH)
    return `is too long a regular expression: it has ${length} characters with its repetitions written out, at most ${MAX_PATTERN_LENGTH} are allowed`;
  return LONG_RANGE.test(pattern) ? 'must not combine (?i) with a range of characters beyond ASCII' : null;
}

/** The patterns that were used recently, of up to 80 KB each. A dropped one is compiled again, in less than a millisecond. */
const compiled = new LRUCache<string, RE2JS>({ max: 500, memoMethod: (pattern) => RE2JS.compile(pattern) });

/** An error of the compiler quotes the pattern, so it is cut to this length. */
const LONGEST_ERROR = 200;

function made<T>(pattern: string, make: () => T): T | { readonly error: string } {
  const error = tooCostly(pattern);
  if (error !== null) return { error };
  try {
    return make();
  } catch (fault) {
    return { error: `is not a regular expression: ${(fault as Error).message}`.slice(0, LONGEST_ERROR) };
  }
}

/**
 * Makes a test of a regular expression, or says what is wrong with it. Expressions have RE2's syntax (no look-around, no
 * back-references) and running time, which is linear in the text. `find` runs the NFA; the DFA behind `test` is faster on average,
 * but building its states takes ten times as long on hostile texts.
 */
export const linearPattern = (
  pattern: string,
): { readonly test: (text: string) => boolean } | { readonly error: string } =>
  made(pattern, () => {
    compiled.memo(pattern);
    return { test: (text: string) => compiled.memo(pattern).matcher(text).find() };
  });

/** How a pattern is compiled: a verification also counts the cost. */
export type PatternOf = typeof linearPattern;

const patternsIn = ({ header, ...fields }: Match): number =>
  [...Object.values(fields), ...Object.values(header ?? {})].filter(
    (wanted) => typeof wanted === 'object' && 'matches' in wanted,
  ).length;

/** Says that the last of some matches brings too many patterns together, for the end of a sentence; null if it does not. */
export function tooManyPatterns(matches: readonly Match[]): string | null {
  const count = matches.reduce((sum, match) => sum + patternsIn(match), 0);
  if (count <= MAX_PATTERNS) return null;
  return `brings the regular expressions to ${count}, at most ${MAX_PATTERNS} are allowed together: use prefix, suffix or a list instead`;
}

/** Makes a function that finds the only group of a regular expression in a text, or says what is wrong with the expression. */
export const linearCapture = (
  pattern: string,
): { readonly find: (text: string) => string | null } | { readonly error: string } =>
  made(pattern, () => {
    const expression = compiled.memo(pattern);
    if (expression.groupCount() !== 1) return { error: 'needs exactly one group' };
    return {
      find(text: string) {
        const matcher = expression.matcher(text);
        return matcher.find() ? (matcher.group(1) ?? null) : null;
      },
    };
  });

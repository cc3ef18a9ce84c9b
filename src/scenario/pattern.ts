import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Match } from '../contract/match.ts';

/**
 * What a request can be made to spend on regular expressions is bounded: a pattern takes time in proportion to its size
 * and to the length of the text, so both are bounded. docs/scenarios.md states the bounds.
 */

const MAX_PATTERN_SIZE = 1000;
/** The patterns of one scenario together. */
export const MAX_SCENARIO_PATTERN_SIZE = 8000;
/** The patterns of all rules that were put on top of one world together, and those of one verification. */
export const MAX_OVERRIDE_PATTERN_SIZE = 2000;
/** A longer text matches no pattern. Only `remarks` and headers can be longer. */
export const MAX_PATTERN_TEXT_LENGTH = 200;

/** Compiling even the shortest pattern takes this long. */
const MIN_SIZE = 10;
/** The table of a Unicode class such as `\pL` is long. */
const UNICODE_CLASS_SIZE = 50;
const UNICODE_CLASS = /\\[pP]/g;

/** `{3}`, `{3,}` or `{3,5}`, and whether it repeats a group. */
const COUNTED = /(\)?)\{(\d+)(,(\d*))?\}/g;

/**
 * An upper bound of the number of instructions that a pattern compiles to, known without compiling it: its length, in which
 * repeated parts count as often as they may be repeated. A repeated group multiplies the whole pattern, so that nesting
 * need not be parsed. An optional repetition takes two instructions.
 */
export function patternSize(pattern: string): number {
  let repeated = 0;
  let groups = 1;
  for (const [, group, from, range, to] of pattern.matchAll(COUNTED)) {
    const min = Number(from);
    const max = range === undefined ? min : to === '' ? min + 1 : Number(to);
    const copies = Math.max(1, min + 2 * Math.max(0, max - min));
    if (group === ')') groups *= copies;
    else repeated += copies;
  }
  const classes = pattern.match(UNICODE_CLASS)?.length ?? 0;
  return Math.max(MIN_SIZE, (pattern.length + repeated + classes * UNICODE_CLASS_SIZE) * groups);
}

/**
 * The compiled patterns that were used recently: a pattern of ten characters may take 80 KB. A dropped one is compiled again,
 * which takes about a millisecond for the largest.
 */
const compiled = new LRUCache<string, RE2JS>({
  maxSize: 500_000, // some 40 MB
  sizeCalculation: (_compiled, pattern) => patternSize(pattern),
});

/** @throws Error for a text that is not a regular expression */
function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const made = RE2JS.compile(pattern);
  compiled.set(pattern, made);
  return made;
}

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
    compile(pattern);
    return { test: (text) => compile(pattern).matcher(text).find() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** How a pattern is compiled: a verification also counts the cost. */
export type PatternOf = typeof linearPattern;

/** An error of the compiler quotes the pattern, so it is cut to this length. */
const LONGEST_ERROR = 200;

/** Compiles a pattern that is not too large. */
export function boundedPattern(text: string, patternOf: PatternOf): ReturnType<PatternOf> {
  const size = patternSize(text);
  if (size > MAX_PATTERN_SIZE)
    return {
      error: `is too large a regular expression: its size is ${size}, at most ${MAX_PATTERN_SIZE} is allowed`,
    };
  const made = patternOf(text);
  return 'error' in made
    ? { error: `is not a regular expression: ${made.error}`.slice(0, LONGEST_ERROR) }
    : made;
}

/** The size of all patterns of a match. */
export function matchPatternSize({ header, ...fields }: Match): number {
  let size = 0;
  for (const wanted of [...Object.values(fields), ...Object.values(header ?? {})]) {
    if (typeof wanted === 'object' && 'matches' in wanted && wanted.matches !== undefined)
      size += patternSize(wanted.matches);
  }
  return size;
}

/** The message for patterns that are too large together. */
export const tooLarge = (whose: string, size: number, max: number): string =>
  `makes the regular expressions of ${whose} too large: their size is ${size}, at most ${max} is allowed. Use prefix, suffix or a list instead`;

/** Makes a function that finds the first group of a regular expression in a text, or says what is wrong with the expression. */
export function linearCapture(
  pattern: string,
): { readonly find: (text: string) => string | null } | { readonly error: string } {
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiled.groupCount() !== 1) return { error: 'it needs exactly one group' };
    return {
      find(text) {
        const matcher = compiled.matcher(text);
        return matcher.find() ? (matcher.group(1) ?? null) : null;
      },
    };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

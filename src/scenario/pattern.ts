import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Match } from '../contract/match.ts';
import type { Dialect, DialectChange, TextRule } from '../contract/dialect.ts';
import type { InitiateRequest, RailProblem } from '../contract/service.ts';
import type { Report } from './planned-timeline.ts';

/**
 * Users write regular expressions, so what they can cost is bounded by counts: of the patterns, of the characters and repetitions
 * of each, and of the characters of a text.
 */

/** The most in one scenario, in all overrides of one world, or in one verification. */
const MAX_PATTERNS = 20;
const MAX_PATTERN_LENGTH = 200;
/** How many times one counted repetition repeats, and how many of them a pattern has. */
const MAX_REPETITIONS = 30;
const MAX_COUNTED = 5;
/** A longer text matches no pattern. Only `remarks` and headers can be longer. */
export const MAX_PATTERN_TEXT_LENGTH = 200;

const ESCAPED = /\\(?:x\{[^}]*\}|.)/gs;
/** `{3}`, `{3,}` or `{3,5}`, and whether it repeats a group. */
const COUNTED = /(\)?)\{(\d+)(?:,(\d*))?\}/g;

/** A range beyond ASCII in a pattern that ignores case: RE2 would look up each of its up to 120,000 characters. */
const LONG_RANGE = /\(\?[a-z-]*i.*-(?:\\x|[^\0-\x7f])/is;

/** Why a pattern is not compiled, for the end of a sentence; null if it may be. */
function excessOf(pattern: string): string | null {
  if (pattern.length > MAX_PATTERN_LENGTH)
    return `must be a regular expression of at most ${MAX_PATTERN_LENGTH} characters`;
  const counted = [...pattern.replaceAll(ESCAPED, '.').matchAll(COUNTED)];
  if (counted.length > MAX_COUNTED)
    return `must not have more than ${MAX_COUNTED} counted repetitions such as {3}`;
  for (const [, group, least, most] of counted) {
    if (group === ')')
      return 'must not repeat a group a number of times, as (ab){2} does: write it out, as in (ab)(ab)';
    if (Math.max(Number(least), Number(most ?? 0)) > MAX_REPETITIONS)
      return `must not repeat anything more than ${MAX_REPETITIONS} times`;
  }
  return LONG_RANGE.test(pattern) ? 'must not combine (?i) with a range of characters beyond ASCII' : null;
}

/** The patterns that were used recently. A dropped one is compiled again. */
const compiled = new LRUCache<string, RE2JS>({ max: 200, memoMethod: (pattern) => RE2JS.compile(pattern) });

function made<T>(pattern: string, make: () => T): T | { readonly error: string } {
  const error = excessOf(pattern);
  if (error !== null) return { error };
  try {
    return make();
  } catch (fault) {
    return { error: `is not a regular expression: ${(fault as Error).message}` };
  }
}

/**
 * Makes a test of a regular expression, or says what is wrong with it. Expressions have RE2's syntax (no look-around, no
 * back-references) and running time, which is linear in the text. `find` runs the NFA; the DFA behind `test` is faster on average,
 * but building its states takes ten times as long on hostile texts.
 */
export const linearPattern = (pattern: string) =>
  made(pattern, () => {
    compiled.memo(pattern);
    return { test: (text: string) => compiled.memo(pattern).matcher(text).find() };
  });

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
    if (expression.groupCount() !== 1) return { error: `has ${expression.groupCount()} groups` };
    return {
      find(text: string) {
        const matcher = expression.matcher(text);
        return matcher.find() ? (matcher.group(1) ?? null) : null;
      },
    };
  });

/** The texts of a request of which a dialect may want more than the payout API does. */
const FIELDS = ['client_ref_id', 'remarks'] as const;

/** A longer text than a pattern reads matches none. Its message has nothing of the pattern, which a header may not hold. */
function problemOf(text: string, { max = Infinity, pattern }: TextRule, field: string): string | undefined {
  if (text.length > max) return `is longer than ${max} characters`;
  const made = pattern === undefined ? undefined : linearPattern(pattern);
  if (made === undefined || ('test' in made && made.test(text))) return undefined;
  return `does not match the pattern of dialect.requests.${field}`;
}

export const textProblems = (body: InitiateRequest, rows: Dialect['requests']): readonly RailProblem[] =>
  FIELDS.flatMap((field): RailProblem | [] => {
    const [text, rule] = [body[field], rows[field]];
    return text === undefined || rule === null
      ? []
      : { field, row: rule.when, problem: problemOf(text, rule, field) };
  });

/** Reports patterns that are no regular expressions. */
export function reportTextPatterns({ requests = {} }: DialectChange, report: Report): void {
  for (const field of FIELDS) {
    const pattern = requests[field]?.pattern;
    const made = pattern === undefined ? undefined : linearPattern(pattern);
    if (made !== undefined && 'error' in made) report(['requests', field, 'pattern'], made.error);
  }
}

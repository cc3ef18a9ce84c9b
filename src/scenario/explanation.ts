import { durationText, istMinute, timeOfDay } from '../contract/times.ts';
import type { RuleVerdict } from '../contract/control-responses.ts';
import type { During, Match } from '../contract/match.ts';
import { conditionsOf, possibleRoutes, windowOf, type Condition } from './rule-compiler.ts';
import type { RequestFacts, Rule } from './rule.ts';

/** A rule or an outcome. */
type Choice = Pick<Rule, 'id' | 'matches' | 'match' | 'during'>;

const quoted = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

const BOUNDS: Readonly<Record<string, string>> = {
  prefix: 'begin with',
  suffix: 'end with',
  matches: 'match',
  gt: 'be more than',
  gte: 'be at least',
  lt: 'be less than',
  lte: 'be at most',
};

/** `must be at least 200000 and be less than 500000` */
function wantedText(wanted: unknown): string {
  if (Array.isArray(wanted)) return `must be one of ${wanted.map(quoted).join(', ')}`;
  if (typeof wanted !== 'object' || wanted === null) return `must be ${quoted(wanted)}`;
  const bounds = Object.entries(wanted).map(([bound, value]) => `${BOUNDS[bound]} ${quoted(value)}`);
  return `must ${bounds.join(' and ')}`;
}

const seenText = (seen: unknown): string => (seen === undefined ? 'there is none' : `it is ${quoted(seen)}`);

function failureText({ field, wanted, seen }: Condition, facts: RequestFacts): string {
  if (field === 'hours') {
    const { from, to } = wanted as NonNullable<Match['hours']>;
    const range = `from ${timeOfDay(from)} to ${timeOfDay(to)} IST`;
    return `hours are ${range}, and it is ${timeOfDay(istMinute(facts.nowMs))}`;
  }
  if (field !== 'header') return `${field} ${wantedText(wanted)}, and ${seenText(seen(facts))}`;
  const [[name, value]] = Object.entries(wanted as object) as [[string, unknown]];
  return `header ${name} ${wantedText(value)}, and ${seenText(facts.headers[name.toLowerCase()])}`;
}

/** `the window from 10m has not begun: the world is 2m old` */
function windowFailure(during: During | undefined, { ageMs }: RequestFacts): string {
  const { from, until } = windowOf(during);
  const age = `the world is ${durationText(ageMs)} old`;
  return ageMs < from
    ? `the window from ${durationText(from)} has not begun: ${age}`
    : `the window until ${durationText(until)} is over: ${age}`;
}

function failureOf({ match, during }: Choice, facts: RequestFacts): string {
  const routes = possibleRoutes(match);
  if (!routes.includes(facts.route)) {
    return `route ${wantedText(routes.length === 1 ? routes[0] : routes)}, and it is ${quoted(facts.route)}`;
  }
  const failed = conditionsOf(match, () => undefined).find(({ holds }) => !holds(facts));
  return failed === undefined ? windowFailure(during, facts) : failureText(failed, facts);
}

/**
 * Which of some rules or outcomes applies to a request, and for each other the first reason why it does not.
 *
 * @param skipReasonOf why one that matches leaves the request to those after it; null when it applies
 * @param noteOf what to add for the one that applies
 */
export function explainChoice<T extends Choice>(
  list: readonly T[],
  facts: RequestFacts,
  skipReasonOf: (one: T) => string | null,
  noteOf: (applied: T) => string,
): RuleVerdict[] {
  let applied: T | null = null;
  const reasonFor = (one: T): string => {
    if (!one.matches(facts)) return failureOf(one, facts);
    if (applied !== null) return `matches, but ${applied.id} is before it`;
    const skipped = skipReasonOf(one);
    if (skipped !== null) return skipped;
    applied = one;
    return `is the first that matches${noteOf(one)}`;
  };
  return list.map((one) => {
    const reason = reasonFor(one);
    return { id: one.id, taken: applied === one, reason };
  });
}

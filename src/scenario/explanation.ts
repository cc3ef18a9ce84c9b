import { durationText } from '../contract/duration.ts';
import type { RuleVerdict } from '../contract/control/explain-call.ts';
import type { During, Match } from '../contract/match.ts';
import { istMinute, timeOfDay } from '../payout/settlement.ts';
import type { Draw } from '../payout/settlement.ts';
import type { Outcome } from './outcome.ts';
import { conditionsOf, possibleRoutes, windowOf, type Condition } from './rule-compiler.ts';
import { skipReason, type Counts, type RequestFacts, type Rule } from './rule.ts';

type Asking = Pick<Rule, 'matches' | 'match' | 'during'>;

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

function failureOf({ match, during }: Asking, facts: RequestFacts): string {
  const routes = possibleRoutes(match);
  if (!routes.includes(facts.route)) {
    return `route ${wantedText(routes.length === 1 ? routes[0] : routes)}, and it is ${quoted(facts.route)}`;
  }
  const failed = conditionsOf(match, () => undefined).find(({ holds }) => !holds(facts));
  return failed === undefined ? windowFailure(during, facts) : failureText(failed, facts);
}

/** Which rule is taken for a request, and why the others are not. @param counts a copy of the world's, since the request is counted in it */
export function explainRules(
  rules: readonly Rule[],
  facts: RequestFacts,
  counts: Counts,
  draw: Draw,
): RuleVerdict[] {
  let taken: Rule | null = null;
  const reasonFor = (rule: Rule): string => {
    if (!rule.matches(facts)) return failureOf(rule, facts);
    const skipped = skipReason(rule, facts, counts, draw);
    if (taken !== null) {
      const without = skipped === null ? '' : `; without that, ${skipped}`;
      return `matches, but ${taken.id} is before it${without}`;
    }
    if (skipped !== null) return skipped;
    taken = rule;
    return 'is the first that matches';
  };
  return rules.map((rule) => {
    const reason = reasonFor(rule);
    return { id: rule.id, taken: taken === rule, reason };
  });
}

/** Rules that a request past the rate limit of its scenario does not reach. */
export const untriedRules = (rules: readonly Rule[]): RuleVerdict[] =>
  rules.map(({ id }) => ({
    id,
    taken: false,
    reason: 'is not tried: the request is past the rate limit of the scenario',
  }));

/** Which outcome a payout gets, and why no other. @param rule the one that its initiate takes @param draw its draws; null where no payout is made */
export function explainOutcomes(
  outcomes: readonly Outcome[],
  facts: RequestFacts,
  rule: Rule | null,
  draw: Draw | null,
): RuleVerdict[] {
  const taken = outcomes.find(({ matches }) => matches(facts));
  return outcomes.map((outcome) => {
    const { id, hasSteps } = outcome;
    if (outcome !== taken) {
      const reason = outcome.matches(facts)
        ? `matches, but ${taken!.id} is before it`
        : failureOf(outcome, facts);
      return { id, taken: false, reason };
    }
    const instead = hasSteps && rule?.effect.timeline ? `, but ${rule.id} has a timeline of its own` : '';
    const choice = draw === null || rule?.effect.timeline ? null : outcome.choice(draw);
    const drawn = choice === null ? '' : `; drawn: ${choice}`;
    return { id, taken: true, reason: `is the first that matches${instead}${drawn}` };
  });
}

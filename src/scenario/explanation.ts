import { durationText } from '../contract/duration.ts';
import type { Verdict } from '../contract/control/explain-call.ts';
import type { During, Match } from '../contract/match.ts';
import { istMinute, timeOfDay } from '../payout/settlement.ts';
import type { Draw } from '../payout/settlement.ts';
import type { Outcome } from './outcome.ts';
import { linearPattern } from './pattern.ts';
import { compileMatch, possibleRoutes, windowOf } from './rule-compiler.ts';
import type { Steps } from './scenario-shape.ts';
import { passOver, type Counts, type PassedOver, type RequestFacts, type Rule } from './rule.ts';

/** What a rule or an outcome demands of a request. */
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

/** One condition of a match, and its message for a request that fails it. */
interface Condition {
  readonly match: Match;
  readonly failure: (facts: RequestFacts) => string;
}

function conditionOf(field: string, wanted: unknown): Condition {
  const match = { [field]: wanted } as Match;
  if (field === 'hours') {
    const { from, to } = wanted as NonNullable<Match['hours']>;
    const range = `from ${timeOfDay(from)} to ${timeOfDay(to)} IST`;
    return { match, failure: ({ nowMs }) => `hours are ${range}, and it is ${timeOfDay(istMinute(nowMs))}` };
  }
  const seenIn = (facts: RequestFacts): unknown =>
    field === 'route' || field === 'attempt' || field === 'payout' ? facts[field] : facts.fields[field];
  return { match, failure: (facts) => `${field} ${wantedText(wanted)}, and ${seenText(seenIn(facts))}` };
}

const headerCondition = (name: string, wanted: NonNullable<Match['header']>[string]): Condition => ({
  match: { header: { [name]: wanted } },
  failure: ({ headers }) =>
    `header ${name} ${wantedText(wanted)}, and ${seenText(headers[name.toLowerCase()])}`,
});

/** The conditions of a match in the order in which they are reported, the route first. */
function conditionsOf({ route: _route, header = {}, ...fields }: Match): readonly Condition[] {
  return [
    ...Object.entries(fields)
      .filter(([, wanted]) => wanted !== undefined)
      .map(([field, wanted]) => conditionOf(field, wanted)),
    ...Object.entries(header).map(([name, wanted]) => headerCondition(name, wanted)),
  ];
}

/** `the window from 10m has not begun: the world is 2m old` */
function windowFailure(during: During | undefined, { ageMs }: RequestFacts): string {
  const { from, until } = windowOf(during);
  const age = `the world is ${durationText(ageMs)} old`;
  return ageMs < from
    ? `the window from ${durationText(from)} has not begun: ${age}`
    : `the window until ${durationText(until)} is over: ${age}`;
}

/** The first condition that a request fails. */
function failureOf({ match, during }: Asking, facts: RequestFacts): string {
  const routes = possibleRoutes(match);
  if (!routes.includes(facts.route)) {
    return `route ${wantedText(routes.length === 1 ? routes[0] : routes)}, and it is ${quoted(facts.route)}`;
  }
  const failed = conditionsOf(match).find((condition) =>
    compileMatch(condition.match, linearPattern, () => undefined).some((test) => !test(facts)),
  );
  return failed === undefined ? windowFailure(during, facts) : failed.failure(facts);
}

/** Why a rule that matches leaves a request to the rules after it. */
function passedOverText({ skip, times, probability, limit }: Rule, passed: PassedOver): string {
  switch (passed.by) {
    case 'skip':
      return `skip ${skip} is not used up: this is match ${passed.matched}`;
    case 'times':
      return `times ${times} is used up`;
    case 'probability':
      return `probability ${probability} is not drawn (${passed.drawn.toFixed(3)})`;
    case 'limit':
      return `the limit of ${limit!.max} per ${durationText(limit!.windowMs)} lets it pass`;
  }
}

/** How many rules or outcomes are explained in one step. Each may have hundreds of conditions. */
const EXPLAINED_AT_ONCE = 20;

function* eachInSteps<T>(items: readonly T[], explain: (item: T) => Verdict): Steps<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const item of items) {
    verdicts.push(explain(item));
    if (verdicts.length % EXPLAINED_AT_ONCE === 0) yield;
  }
  return verdicts;
}

/**
 * Which rule is taken for a request, and why the others are not.
 *
 * @param counts a copy of the world's counts, since this request is counted in it
 */
export function explainRules(
  rules: readonly Rule[],
  facts: RequestFacts,
  counts: Counts,
  draw: Draw,
): Steps<Verdict[]> {
  let taken: Rule | null = null;
  const reasonFor = (rule: Rule): string => {
    if (!rule.matches(facts)) return failureOf(rule, facts);
    if (taken !== null) return `matches, but ${taken.id} is before it`;
    const passed = passOver(rule, facts, counts, draw);
    if (passed !== null) return passedOverText(rule, passed);
    taken = rule;
    return 'is the first that matches';
  };
  return eachInSteps(rules, (rule) => {
    const reason = reasonFor(rule);
    return { id: rule.id, taken: taken === rule, reason };
  });
}

/** Rules that a request past the rate limit of its scenario does not reach. */
export const untriedRules = (rules: readonly Rule[]): Steps<Verdict[]> =>
  eachInSteps(rules, ({ id }) => ({
    id,
    taken: false,
    reason: 'is not tried: the request is past the rate limit of the scenario',
  }));

/**
 * Which outcome a payout gets, and why it gets no other.
 *
 * @param rule the rule that its initiate takes
 * @param draw the draws of the payout; null where none is made
 */
export function explainOutcomes(
  outcomes: readonly Outcome[],
  facts: RequestFacts,
  rule: Rule | null,
  draw: Draw | null,
): Steps<Verdict[]> {
  const taken = outcomes.find(({ matches }) => matches(facts));
  return eachInSteps(outcomes, (outcome) => {
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

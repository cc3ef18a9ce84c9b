import { durationText, istDate, istMinute } from '../contract/times.ts';
import { RouteName, type During, type Match } from '../contract/match.ts';
import type {
  EffectDocument,
  NamedRuleDocument,
  RuleDocument,
  NotFound,
  OutcomeDocument,
} from '../contract/scenario-document.ts';
import { plannedTimeline, reportIn, type Report } from './planned-timeline.ts';
import { linearPattern, MAX_PATTERN_TEXT_LENGTH } from './pattern.ts';
import type { Effect, RequestFacts, Respond, Rule } from './rule.ts';
import { reportUnknownNames } from './template.ts';
import { isWorkingDay, istDay, weekdayOf } from '../payout/calendar.ts';
import { listed } from '../contract/words.ts';
import type { PlannedStep } from '../contract/snapshot.ts';
import type { Draw } from '../payout/settlement.ts';

type Test<T> = (value: T) => boolean;
type FactsTest = Test<RequestFacts>;
type TextMatch = NonNullable<Match['client_ref_id']>;
type NumberMatch = NonNullable<Match['amount']>;
type Hours = NonNullable<Match['hours']>;
type Headers = NonNullable<Match['header']>;

/** The fields of requests, and the routes whose requests have them. */
const FIELD_ROUTES: readonly (readonly [keyof Match, readonly RouteName[]])[] = [
  ['client_ref_id', ['initiate', 'status']],
  ['txn_id', ['status']],
  ['beneficiary_name', ['initiate']],
  ['beneficiary_account', ['initiate']],
  ['beneficiary_ifsc', ['initiate']],
  ['transfer_mode', ['initiate']],
  ['remarks', ['initiate']],
  ['amount', ['initiate']],
  ['payout', ['initiate', 'status']],
];

function textTest(match: TextMatch, report: Report): Test<string> {
  if (typeof match === 'string') return (text) => text === match;
  if (Array.isArray(match)) {
    const texts = new Set(match);
    return (text) => texts.has(text);
  }
  const { prefix, suffix, matches } = match;
  const pattern = matches === undefined ? undefined : linearPattern(matches);
  if (pattern !== undefined && 'error' in pattern) {
    report(['matches'], pattern.error);
    return () => false;
  }
  return (text) =>
    (prefix === undefined || text.startsWith(prefix)) &&
    (suffix === undefined || text.endsWith(suffix)) &&
    (pattern === undefined || (text.length <= MAX_PATTERN_TEXT_LENGTH && pattern.test(text)));
}

function numberTest(match: NumberMatch): Test<number> {
  if (typeof match === 'number') return (value) => value === match;
  if (Array.isArray(match)) {
    const numbers = new Set(match);
    return (value) => numbers.has(value);
  }
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = match;
  return (value) => value > gt && value >= gte && value < lt && value <= lte;
}

const hoursTest = ({ from, to }: Hours): Test<number> =>
  from <= to
    ? (nowMs) => istMinute(nowMs) >= from && istMinute(nowMs) < to
    : (nowMs) => istMinute(nowMs) >= from || istMinute(nowMs) < to;

/** The response to requests past a limit, when the rule has no other. */
const tooMany = ({ max, per }: NonNullable<EffectDocument['limit']>): Respond => ({
  status: 429,
  message: `Too many requests: at most ${max} per ${durationText(per)}`,
});

function effectOf(effect: EffectDocument, report: Report): Effect {
  const { delay = null, fault = null, hold = null, limit, timeline, commit } = effect;
  const respond = effect.respond ?? (limit === undefined || fault !== null ? null : tooMany(limit));
  return {
    delay,
    respond,
    fault,
    hold,
    commit: typeof commit === 'object' ? false : (commit ?? (respond === null && fault === null)),
    late: typeof commit === 'object' ? commit : null,
    timeline: timeline === undefined ? null : plannedTimeline(timeline, reportIn(report, 'timeline')),
    notFound: effect.not_found ?? null,
    staleMs: effect.stale ?? null,
  };
}

function reportImpossible(match: Match, routes: readonly RouteName[], report: Report): void {
  let possible = routes;
  for (const [field, having] of FIELD_ROUTES) {
    if (match[field] === undefined) continue;
    possible = possible.filter((route) => having.includes(route));
    if (possible.length === 0) {
      report([field], `can never match: only ${listed(having)} requests have it`);
      return;
    }
  }
}

/** The routes whose requests have every field that a match names. */
export const possibleRoutes = (match: Match): readonly RouteName[] =>
  routesOf(match).filter((route) =>
    FIELD_ROUTES.every(([field, having]) => match[field] === undefined || having.includes(route)),
  );

const ONLY_ON: Readonly<Record<'commit' | 'timeline' | 'not_found' | 'stale', readonly RouteName[]>> = {
  commit: ['initiate'],
  timeline: ['initiate'],
  not_found: ['initiate'],
  stale: ['status', 'balance'],
};

const dependsOnAttempt = ({ match, probability, effect }: RuleDocument): boolean =>
  match?.attempt !== undefined || probability !== undefined || typeof effect.delay === 'object';

const routesOf = ({ route }: Match): readonly RouteName[] =>
  route === undefined ? RouteName.options : [route].flat();

export interface Condition {
  /** `route`, `amount`, `header` … */
  readonly field: string;
  /** What the match wants; of headers, one. */
  readonly wanted: unknown;
  readonly seen: (facts: RequestFacts) => unknown;
  readonly holds: FactsTest;
}

/** What a request has of the fields of a match that are not fields of its body or query. */
const SEEN: Readonly<Record<string, Condition['seen']>> = {
  route: (facts) => facts.route,
  attempt: (facts) => facts.attempt,
  payout: (facts) => facts.payout() || undefined, // 0 when it is not known
  date: (facts) => istDate(facts.nowMs),
  hours: (facts) => facts.nowMs,
  weekday: (facts) => weekdayOf(istDay(facts.nowMs)),
  working_day: (facts) => isWorkingDay(istDay(facts.nowMs), facts.calendar),
  header: (facts) => facts.headers,
};
const NUMBERS: ReadonlySet<string> = new Set(['attempt', 'payout', 'amount', 'hours']);

function fieldTest(field: string, wanted: unknown, report: Report): FactsTest {
  const seen = seenAt(field);
  if (typeof wanted === 'boolean') return (facts) => seen(facts) === wanted;
  const type = NUMBERS.has(field) ? 'number' : 'string';
  const test = (
    field === 'hours'
      ? hoursTest(wanted as Hours)
      : type === 'number'
        ? numberTest(wanted as NumberMatch)
        : textTest(wanted as TextMatch, report)
  ) as Test<unknown>;
  return (facts) => {
    const value = seen(facts);
    return typeof value === type && test(value);
  };
}

function headerTest(name: string, wanted: TextMatch, report: Report): FactsTest {
  const test = textTest(wanted, report);
  const isPattern = typeof wanted === 'object' && 'matches' in wanted;
  const key = name.toLowerCase();
  return ({ headers }) => {
    const values = Object.hasOwn(headers, key) ? [headers[key] ?? []].flat() : []; // not `constructor`, which every object has
    const length = values.reduce((sum, value) => sum + value.length + 1, -1);
    return (!isPattern || length <= MAX_PATTERN_TEXT_LENGTH) && values.some((value) => test(value));
  };
}

const seenAt = (field: string): Condition['seen'] => SEEN[field] ?? (({ fields }) => fields[field]);

/** The conditions of a match, which must all hold. Reports those that can never hold. */
export function conditionsOf(match: Match, report: Report): readonly Condition[] {
  reportImpossible(match, routesOf(match), report);
  return Object.entries(match).flatMap(([field, wanted]): readonly Condition[] => {
    if (wanted === undefined) return [];
    const [seen, reportField] = [seenAt(field), reportIn(report, field)];
    if (field !== 'header') return [{ field, wanted, seen, holds: fieldTest(field, wanted, reportField) }];
    return Object.entries(wanted as Headers).map(([name, one]) => ({
      field,
      wanted: { [name]: one },
      seen,
      holds: headerTest(name, one, reportIn(reportField, name)),
    }));
  });
}

/** The time during which a window is open, in ms of world time since the world began. */
export const windowOf = ({ from = 0, for: length = Infinity, until = from + length }: During = {}) => ({
  from,
  until,
});

/** Compiles a match, and the window of world time in which it holds, to one test. Reports as `conditionsOf` does. */
export function compileCondition(match: Match, during: During | undefined, report: Report): FactsTest {
  const tests = conditionsOf(match, report).map(({ holds }) => holds);
  const { from, until } = windowOf(during);
  if (during !== undefined) tests.push(({ ageMs }) => ageMs >= from && ageMs < until);
  return (facts) => {
    for (const test of tests) if (!test(facts)) return false; // not `every`: it makes a function for each rule and request
    return true;
  };
}

export const ruleName = ({ name }: RuleDocument, index: number): string => name ?? `rule-${index + 1}`;

/** Compiles a rule. @param source the rule as written */
export function compileRule(
  document: NamedRuleDocument,
  source: unknown,
  scenarioName: string,
  report: Report,
): Rule {
  const { match = {}, effect } = document;
  const routes = routesOf(match);
  const reportEffect = reportIn(report, 'effect');
  for (const [part, on] of Object.entries(ONLY_ON)) {
    const isUsed = routes.some((route) => on.includes(route));
    if (effect[part as keyof typeof ONLY_ON] !== undefined && !isUsed) {
      const which = `the route${on.length === 1 ? '' : 's'} ${listed(on)}`;
      reportEffect([part], `has an effect on ${which} only, which this rule does not match`);
    }
  }
  const matches = compileCondition(match, document.during, reportIn(report, 'match'));
  if (effect.respond !== undefined) reportUnknownNames(effect.respond, reportIn(reportEffect, 'respond'));
  return {
    id: `${scenarioName}/${document.name}`,
    document: source,
    countsAttempts: dependsOnAttempt(document),
    match,
    during: document.during,
    matches,
    skip: document.skip ?? 0,
    times: document.times ?? null,
    probability: document.probability ?? null,
    limit: effect.limit === undefined ? null : { max: effect.limit.max, windowMs: effect.limit.per },
    effect: effectOf(effect, reportEffect),
  };
}

/** The future of a payout: chosen once, for the initiate that makes it. Rules decide what the client sees of it. */
export interface Outcome extends Pick<Rule, 'id' | 'document' | 'match' | 'during' | 'matches'> {
  /** The steps of its timeline, or of the one that is drawn; null for those of the settlement. */
  readonly steps: ((draw: Draw) => readonly PlannedStep[]) | null;
  readonly notFound: NotFound | null;
}

/** One of the timelines, each as often as its weight says. */
function drawn<T extends { readonly weight: number }>(timelines: readonly T[], draw: number): T {
  let left = draw * timelines.reduce((sum, { weight }) => sum + weight, 0);
  const chosen = timelines.find(({ weight }) => (left -= weight) < 0);
  return chosen ?? timelines.at(-1)!; // the last one, when the sum of the weights was rounded up
}

export const outcomeName = ({ name }: OutcomeDocument, index: number): string =>
  name ?? `outcome-${index + 1}`;

/** Compiles an outcome. @param source the outcome as written @param id `scenario/outcome` */
export function compileOutcome(
  document: OutcomeDocument,
  source: unknown,
  id: string,
  report: Report,
): Outcome {
  const { match = {}, during, timeline, weighted, not_found: notFound = null } = document;
  const matches = compileCondition({ ...match, route: 'initiate' }, during, reportIn(report, 'match'));
  const own = timeline !== undefined ? [{ weight: 1, timeline }] : (weighted ?? []);
  const timelines = own.map(({ weight, timeline: steps }, index) => {
    const place = timeline !== undefined ? ['timeline'] : ['weighted', index, 'timeline'];
    return { weight, steps: plannedTimeline(steps, reportIn(report, ...place)) };
  });
  return {
    id,
    document: source,
    match,
    during,
    matches,
    steps: timelines.length === 0 ? null : (draw) => drawn(timelines, draw('timeline')).steps,
    notFound,
  };
}

import { durationText } from '../contract/duration.ts';
import { ROUTE_NAMES, type During, type Match, type RouteName } from '../contract/match.ts';
import type {
  Effect as EffectDocument,
  NamedRuleDocument,
  RuleDocument,
} from '../contract/scenario-document.ts';
import { plannedTimeline, reportIn, type Report } from './planned-timeline.ts';
import {
  boundedPattern,
  linearPattern,
  matchPatternSize,
  MAX_PATTERN_TEXT_LENGTH,
  type PatternOf,
} from './pattern.ts';
import {
  documentBytes,
  type Effect,
  type Fault,
  type Hold,
  type RequestFacts,
  type Respond,
  type Rule,
} from './rule.ts';
import { reportUnknownNames } from './template.ts';
import { istMinute } from '../payout/settlement.ts';

type Test<T> = (value: T) => boolean;
export type FactsTest = Test<RequestFacts>;
type TextMatch = NonNullable<Match['client_ref_id']>;
type NumberMatch = NonNullable<Match['amount']>;

/** The text fields of requests, and the routes whose requests have them. */
const TEXT_FIELDS = {
  client_ref_id: ['initiate', 'status'],
  txn_id: ['status'],
  beneficiary_name: ['initiate'],
  beneficiary_account: ['initiate'],
  beneficiary_ifsc: ['initiate'],
  transfer_mode: ['initiate'],
  remarks: ['initiate'],
} as const satisfies Partial<Record<keyof Match, readonly RouteName[]>>;

/** The numbers of requests, and the routes that have them. */
const NUMBER_FIELDS = { amount: ['initiate'], payout: ['initiate', 'status'] } as const;

const FIELD_ROUTES = Object.entries({ ...TEXT_FIELDS, ...NUMBER_FIELDS });

/** Tests a text. Reports a pattern that cannot be compiled. */
export function textTest(match: TextMatch, patternOf: PatternOf, report: Report): Test<string> {
  if (typeof match === 'string') return (text) => text === match;
  if (Array.isArray(match)) {
    const texts = new Set(match);
    return (text) => texts.has(text);
  }
  const { prefix, suffix, matches } = match;
  const pattern = matches === undefined ? undefined : boundedPattern(matches, patternOf);
  if (pattern !== undefined && 'error' in pattern) {
    report(['matches'], pattern.error);
    return () => false;
  }
  return (text) =>
    (prefix === undefined || text.startsWith(prefix)) &&
    (suffix === undefined || text.endsWith(suffix)) &&
    (pattern === undefined || (text.length <= MAX_PATTERN_TEXT_LENGTH && pattern.test(text)));
}

export function numberTest(match: NumberMatch): Test<number> {
  if (typeof match === 'number') return (value) => value === match;
  if (Array.isArray(match)) {
    const numbers = new Set(match);
    return (value) => numbers.has(value);
  }
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = match;
  return (value) => value > gt && value >= gte && value < lt && value <= lte;
}

/** The tightest bound of each side, and whether it is included. */
export function boundsOf({ gt, gte, lt, lte }: Exclude<NumberMatch, number | number[]>) {
  const low = Math.max(gt ?? -Infinity, gte ?? -Infinity);
  const high = Math.min(lt ?? Infinity, lte ?? Infinity);
  return { low, takesLow: gt !== low, high, takesHigh: lt !== high };
}

const hoursTest = ({ from, to }: NonNullable<Match['hours']>): Test<number> =>
  from <= to
    ? (nowMs) => istMinute(nowMs) >= from && istMinute(nowMs) < to
    : (nowMs) => istMinute(nowMs) >= from || istMinute(nowMs) < to;

const DEFAULT_BYTES_PER_SECOND = 50; // a successful answer then takes about four seconds

/** A fault as it is written, with its defaults filled in. */
export function faultOf(fault: NonNullable<EffectDocument['fault']>): Fault {
  if (typeof fault === 'object') return fault;
  if (fault === 'hang') return { kind: fault, for: null };
  if (fault === 'slow-body') return { kind: fault, bytes_per_second: DEFAULT_BYTES_PER_SECOND };
  return { kind: fault };
}

/** The answer to requests past a limit, when the rule has no other. */
const tooMany = ({ max, per }: NonNullable<EffectDocument['limit']>): Respond => ({
  status: 429,
  message: `Too many requests: at most ${max} per ${durationText(per)}`,
});

const DEFAULT_HOLD_MS = 30_000;

function holdOf(hold: EffectDocument['hold']): Hold | null {
  if (hold === undefined) return null;
  if (typeof hold === 'string') return { at: hold, forMs: DEFAULT_HOLD_MS };
  return { at: hold.at, forMs: hold.for ?? DEFAULT_HOLD_MS };
}

function effectOf(effect: EffectDocument, report: Report): Effect {
  const { delay = null, fault, limit, timeline, not_found: notFound = null, stale = null } = effect;
  const respond = effect.respond ?? (limit === undefined || fault !== undefined ? null : tooMany(limit));
  return {
    delay,
    respond,
    fault: fault === undefined ? null : faultOf(fault),
    hold: holdOf(effect.hold),
    commit: effect.commit ?? (respond === null && fault === undefined),
    timeline: timeline === undefined ? null : plannedTimeline(timeline, reportIn(report, 'timeline')),
    notFound,
    staleMs: stale,
  };
}

/** Reports conditions that no request can meet. */
function reportImpossible(match: Match, routes: readonly RouteName[], report: Report): void {
  let possible = routes;
  for (const [field, having] of FIELD_ROUTES) {
    if (match[field as keyof Match] === undefined) continue;
    possible = possible.filter((route) => having.some((one) => one === route));
    if (possible.length === 0) {
      report([field], `can never match: only ${having.join(' and ')} requests have it`);
      return;
    }
  }
  for (const field of ['amount', 'attempt', 'payout'] as const) {
    const bounds = match[field];
    if (typeof bounds !== 'object' || Array.isArray(bounds)) continue;
    const { low, takesLow, high, takesHigh } = boundsOf(bounds);
    if (low > high || (low === high && !(takesLow && takesHigh))) {
      report([field], 'can never match: no number is within these bounds');
    }
  }
  if (match.hours !== undefined && match.hours.from === match.hours.to) {
    report(['hours'], 'can never match: from and to are the same');
  }
}

/** Reports parts of an answer that are not sent, since a success body has no place for them. */
function reportUnseen({ respond }: EffectDocument, report: Report): void {
  if (respond === undefined || respond.status >= 300 || respond.body !== undefined) return;
  for (const part of ['code', 'message'] as const) {
    if (respond[part] !== undefined) {
      report(['respond', part], 'has no effect with a status below 300: use body instead');
    }
  }
}

/** The routes whose requests have every field that a match names. */
export const possibleRoutes = (match: Match): readonly RouteName[] =>
  FIELD_ROUTES.reduce<readonly RouteName[]>(
    (routes, [field, having]) =>
      match[field as keyof Match] === undefined
        ? routes
        : routes.filter((route) => having.some((one) => one === route)),
    routesOf(match),
  );

/** Effects that apply to one route only. */
const ONLY_ON = { commit: 'initiate', timeline: 'initiate', not_found: 'initiate', stale: 'status' } as const;

const dependsOnAttempt = ({ match, probability, effect }: RuleDocument): boolean =>
  match?.attempt !== undefined || probability !== undefined || typeof effect.delay === 'object';

/** The routes that a match can match. */
const routesOf = ({ route }: Match): readonly RouteName[] =>
  route === undefined ? ROUTE_NAMES : [route].flat();

/** Compiles a match to tests that must all hold, roughly the cheapest first. Reports conditions that can never hold. */
export function compileMatch(match: Match, patternOf: PatternOf, report: Report): readonly FactsTest[] {
  const routes = routesOf(match);
  reportImpossible(match, routes, report);
  const tests: FactsTest[] = [(facts) => routes.includes(facts.route)];
  const { attempt, payout, amount, hours, header } = match;
  if (attempt !== undefined) {
    const test = numberTest(attempt);
    tests.push((facts) => test(facts.attempt));
  }
  if (payout !== undefined) {
    const test = numberTest(payout);
    tests.push((facts) => facts.payout > 0 && test(facts.payout));
  }
  if (amount !== undefined) {
    const test = numberTest(amount);
    tests.push(({ fields }) => typeof fields['amount'] === 'number' && test(fields['amount']));
  }
  for (const field of Object.keys(TEXT_FIELDS) as (keyof typeof TEXT_FIELDS)[]) {
    const wanted = match[field];
    if (wanted === undefined) continue;
    const test = textTest(wanted, patternOf, reportIn(report, field));
    tests.push(({ fields }) => typeof fields[field] === 'string' && test(fields[field]));
  }
  if (hours !== undefined) {
    const test = hoursTest(hours);
    tests.push((facts) => test(facts.nowMs));
  }
  for (const [name, wanted] of Object.entries(header ?? {})) {
    const test = textTest(wanted, patternOf, reportIn(report, 'header', name));
    const isPattern = typeof wanted === 'object' && 'matches' in wanted;
    const key = name.toLowerCase();
    tests.push(({ headers }) => {
      const values = Object.hasOwn(headers, key) ? [headers[key] ?? []].flat() : []; // not `constructor`, which every object has
      const length = values.reduce((sum, value) => sum + value.length + 1, -1);
      return (!isPattern || length <= MAX_PATTERN_TEXT_LENGTH) && values.some((value) => test(value));
    });
  }
  return tests;
}

/** The time during which a window is open, in ms of world time since the world began. */
export const windowOf = ({ from = 0, for: length = Infinity, until = from + length }: During = {}) => ({
  from,
  until,
});

/** Compiles a match, and the window of world time in which it holds, to one test. Reports as `compileMatch` does. */
export function compileCondition(match: Match, during: During | undefined, report: Report): FactsTest {
  const tests = [...compileMatch(match, linearPattern, report)];
  const { from, until } = windowOf(during);
  if (during !== undefined) tests.push(({ ageMs }) => ageMs >= from && ageMs < until);
  return (facts) => {
    for (const test of tests) if (!test(facts)) return false; // not `every`: it makes a function for each rule and request
    return true;
  };
}

/** The names of the rules of a scenario: their own, or by their places. */
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
  for (const [part, route] of Object.entries(ONLY_ON)) {
    if (effect[part as keyof typeof ONLY_ON] !== undefined && !routes.includes(route)) {
      reportEffect([part], `has an effect on the route ${route} only, which this rule does not match`);
    }
  }
  const matches = compileCondition(match, document.during, reportIn(report, 'match'));
  reportUnseen(effect, reportEffect);
  if (effect.respond !== undefined) reportUnknownNames(effect.respond, reportIn(reportEffect, 'respond'));
  const patternSize = matchPatternSize(match);
  return {
    id: `${scenarioName}/${document.name}`,
    document: source,
    countsAttempts: dependsOnAttempt(document),
    patternSize,
    bytes: documentBytes(source, patternSize),
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

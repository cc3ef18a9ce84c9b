import {
  ROUTE_NAMES,
  type Effect as EffectDocument,
  type Match,
  type RuleDocument,
} from '../contract/scenario.ts';
import { plannedTimeline, type Report } from './planned-timeline.ts';
import type { Delay, Effect, Fault, RequestFacts, Respond, Rule } from './rule.ts';
import { istMinute } from './settlement.ts';

/**
 * Makes a test of a regular expression that takes time in proportion to the text, whatever the expression, or tells what
 * is wrong with it. (A file must not be able to hang the server.)
 */
export type PatternOf = (
  pattern: string,
) => { readonly test: (text: string) => boolean } | { readonly error: string };

type Test<T> = (value: T) => boolean;
type FactsTest = Test<RequestFacts>;
type TextMatch = NonNullable<Match['client_ref_id']>;
type NumberMatch = NonNullable<Match['amount']>;

const TEXT_FIELDS = [
  'client_ref_id',
  'txn_id',
  'beneficiary_name',
  'beneficiary_account',
  'beneficiary_ifsc',
  'transfer_mode',
  'remarks',
] as const;

const listed = <T>(values: T | readonly T[]): readonly T[] =>
  Array.isArray(values) ? (values as readonly T[]) : [values as T];

function textTest(
  match: TextMatch,
  path: readonly PropertyKey[],
  patternOf: PatternOf,
  report: Report,
): Test<string> {
  if (typeof match === 'string') return (text) => text === match;
  if (Array.isArray(match)) {
    const texts = new Set(match);
    return (text) => texts.has(text);
  }
  const { prefix, suffix, matches } = match;
  const pattern = matches === undefined ? undefined : patternOf(matches);
  if (pattern !== undefined && 'error' in pattern) {
    report([...path, 'matches'], `is no regular expression: ${pattern.error}`);
    return () => false;
  }
  return (text) =>
    (prefix === undefined || text.startsWith(prefix)) &&
    (suffix === undefined || text.endsWith(suffix)) &&
    (pattern === undefined || pattern.test(text));
}

function numberTest(match: NumberMatch): Test<number> {
  if (typeof match === 'number') return (value) => value === match;
  if (Array.isArray(match)) return (value) => match.includes(value);
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = match;
  return (value) => value > gt && value >= gte && value < lt && value <= lte;
}

const hoursTest = ({ from, to }: NonNullable<Match['hours']>): Test<number> =>
  from <= to
    ? (nowMs) => istMinute(nowMs) >= from && istMinute(nowMs) < to
    : (nowMs) => istMinute(nowMs) >= from || istMinute(nowMs) < to;

/** Everything that a match asks for, in the order in which it is cheapest to ask. */
function factsTests(
  match: Match,
  path: readonly PropertyKey[],
  patternOf: PatternOf,
  report: Report,
): FactsTest[] {
  const tests: FactsTest[] = [];
  const { attempt, amount, hours, header } = match;
  if (attempt !== undefined) {
    const test = numberTest(attempt);
    tests.push((facts) => test(facts.attempt));
  }
  if (amount !== undefined) {
    const test = numberTest(amount);
    tests.push(({ fields }) => typeof fields['amount'] === 'number' && test(fields['amount']));
  }
  for (const field of TEXT_FIELDS) {
    const wanted = match[field];
    if (wanted === undefined) continue;
    const test = textTest(wanted, [...path, field], patternOf, report);
    tests.push(({ fields }) => typeof fields[field] === 'string' && test(fields[field]));
  }
  if (hours !== undefined) {
    const test = hoursTest(hours);
    tests.push((facts) => test(facts.nowMs));
  }
  for (const [name, wanted] of Object.entries(header ?? {})) {
    const test = textTest(wanted, [...path, 'header', name], patternOf, report);
    tests.push(({ headers }) => listed(headers[name.toLowerCase()] ?? []).some((value) => test(value)));
  }
  return tests;
}

function delayOf(delay: NonNullable<EffectDocument['delay']>): Delay {
  if (typeof delay === 'number') return { fixedMs: delay };
  if ('median' in delay) return { medianMs: delay.median, sigma: delay.sigma };
  return { minMs: delay.min, maxMs: delay.max };
}

const DEFAULT_BYTES_PER_SECOND = 50; // a success answer then takes some four seconds

function faultOf(fault: NonNullable<EffectDocument['fault']>): Fault {
  if (typeof fault === 'object') {
    return fault.kind === 'hang'
      ? { kind: 'hang', forMs: fault.for }
      : { kind: 'slow-body', bytesPerSecond: fault.bytes_per_second };
  }
  if (fault === 'hang') return { kind: 'hang', forMs: null };
  if (fault === 'slow-body') return { kind: 'slow-body', bytesPerSecond: DEFAULT_BYTES_PER_SECOND };
  return { kind: fault };
}

const respondOf = ({
  status,
  code,
  message,
  headers,
  body,
}: NonNullable<EffectDocument['respond']>): Respond => ({
  status,
  code: code ?? null,
  message: message ?? null,
  headers: headers ?? {},
  body: body ?? null,
});

function effectOf(effect: EffectDocument, path: readonly PropertyKey[], report: Report): Effect {
  const { delay, respond, fault, timeline, not_found: notFound, stale } = effect;
  return {
    delay: delay === undefined ? null : delayOf(delay),
    respond: respond === undefined ? null : respondOf(respond),
    fault: fault === undefined ? null : faultOf(fault),
    commit: effect.commit ?? (respond === undefined && fault === undefined),
    timeline: timeline === undefined ? null : plannedTimeline(timeline, [...path, 'timeline'], report),
    hidden: notFound === undefined ? null : 'reads' in notFound ? notFound : { forMs: notFound.for },
    staleMs: stale ?? null,
  };
}

/** Parts of an effect that mean something on one route only. */
const ONLY_ON = { commit: 'initiate', timeline: 'initiate', not_found: 'initiate', stale: 'status' } as const;

/**
 * Makes a rule of its document.
 *
 * @param report is told all that is wrong with it beyond its shape
 */
export function compileRule(
  document: RuleDocument,
  scenarioName: string,
  path: readonly PropertyKey[],
  patternOf: PatternOf,
  report: Report,
): Rule {
  const { match = {}, effect } = document;
  const routes = match.route === undefined ? ROUTE_NAMES : listed(match.route);
  for (const [part, route] of Object.entries(ONLY_ON)) {
    if (effect[part as keyof typeof ONLY_ON] !== undefined && !routes.includes(route)) {
      report(
        [...path, 'effect', part],
        `means something on the route ${route} only, which this rule does not match`,
      );
    }
  }
  const tests = factsTests(match, [...path, 'match'], patternOf, report);
  return {
    id: `${scenarioName}/${document.name}`,
    matches: (facts) => routes.includes(facts.route) && tests.every((test) => test(facts)),
    skip: document.skip ?? 0,
    times: document.times ?? null,
    probability: document.probability ?? null,
    effect: effectOf(effect, [...path, 'effect'], report),
  };
}

import type { RequestMatch, Verification } from '../../contract/control.ts';
import type { VerifyAnswer } from '../../contract/control-answers.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Exchange } from './exchange.ts';
import { factsOf } from './exchange-facts.ts';
import {
  linearPattern,
  matchPatternSize,
  MAX_OVERRIDE_PATTERN_SIZE,
  patternSize,
  tooLarge,
  type PatternOf,
} from '../../scenario/pattern.ts';
import type { Report } from '../../scenario/planned-timeline.ts';
import { compileMatch } from '../../scenario/rule-compiler.ts';
import type { RequestFacts } from '../../scenario/rule.ts';

/** An exchange, with the facts that a match can test. */
interface Witness {
  readonly exchange: Exchange;
  readonly facts: RequestFacts;
}

/** One condition of a match. */
interface Condition {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: (witness: Witness) => unknown;
  readonly holds: (witness: Witness) => boolean;
}

const CLOSEST = 3;

/**
 * What one verification may spend on regular expressions over the whole journal, as the sum of pattern size times text
 * length: some 50 ms. A verification that needs more is refused.
 */
const MAX_PATTERN_STEPS = 2_000_000;

/** Compiles each pattern once, runs it once over each text, and refuses when that takes too many steps. */
function countedPatterns(): PatternOf {
  const compiled = new Map<string, ReturnType<PatternOf>>();
  let steps = 0;
  const counted = (pattern: string): ReturnType<PatternOf> => {
    const made = linearPattern(pattern);
    if ('error' in made) return made;
    const size = patternSize(pattern);
    const results = new Map<string, boolean>();
    const test = (text: string): boolean => {
      const known = results.get(text);
      if (known !== undefined) return known;
      steps += size * text.length;
      if (steps > MAX_PATTERN_STEPS) {
        const message =
          'The regular expressions of this verification take too long over this journal: use prefix, suffix or a list instead';
        throw new Refusal('INVALID_REQUEST', { message });
      }
      const result = made.test(text);
      results.set(text, result);
      return result;
    };
    return { test };
  };
  return (pattern) => {
    const known = compiled.get(pattern) ?? counted(pattern);
    compiled.set(pattern, known);
    return known;
  };
}

/** Reports patterns that are too large together, before one of them is compiled. */
function hasLargePatterns({ match, sequence = [] }: Verification, report: Report): boolean {
  const size = [match ?? {}, ...sequence].reduce((sum, one) => sum + matchPatternSize(one), 0);
  if (size <= MAX_OVERRIDE_PATTERN_SIZE) return false;
  report(
    [sequence.length > 0 ? 'sequence' : 'match'],
    tooLarge('this verification', size, MAX_OVERRIDE_PATTERN_SIZE),
  );
  return true;
}

/** The outcome of a request, by the names of a match. */
const BECAME: Readonly<Record<string, (exchange: Exchange) => unknown>> = {
  status: seenStatus,
  outcome: ({ outcome }) => outcome,
  rule: ({ rule }) => rule,
  fault: ({ fault }) => fault,
  committed,
  replayed: ({ replayed }) => replayed === true,
};

/** Whether a request made a payout; null for a request that cannot make one, or is still pending. */
export function committed({
  route,
  committed: underRule,
  replayed,
  answer,
  txnId,
}: Exchange): boolean | null {
  if (route !== 'initiate') return null;
  if (underRule !== undefined) return underRule;
  return answer === undefined ? null : txnId !== undefined && replayed !== true && answer.status === 200;
}

/** The faults that leave the client without a status. */
const WITHOUT_STATUS: ReadonlySet<string> = new Set([
  'connection-reset',
  'empty-response',
  'garbage',
  'hang',
]);

/** The HTTP status that the client was sent; undefined for none. */
export function seenStatus({ answer, fault }: Exchange): number | undefined {
  return fault !== undefined && WITHOUT_STATUS.has(fault) ? undefined : answer?.status;
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function seenAt(field: string, { facts }: Witness): unknown {
  if (field === 'route') return facts.route;
  if (field === 'attempt') return facts.attempt;
  if (field === 'header') return facts.headers;
  return field === 'hours' ? new Date(facts.nowMs).toISOString() : facts.fields[field];
}

function conditionsOf(
  match: RequestMatch,
  path: readonly PropertyKey[],
  patternOf: PatternOf,
  report: Report,
): readonly Condition[] {
  const { status: _s, outcome: _o, rule: _r, fault: _f, committed: _c, replayed: _p, ...ofRules } = match;
  compileMatch(ofRules, path, patternOf, report); // reports what can never hold, which takes the whole match
  return Object.entries(match)
    .filter(([, expected]) => expected !== undefined)
    .map(([field, expected]): Condition => {
      const became = BECAME[field];
      if (became !== undefined) {
        const actual = ({ exchange }: Witness): unknown => became(exchange);
        const wanted = listed(expected);
        return { field, expected, actual, holds: (witness) => wanted.includes(actual(witness)) };
      }
      const tests = compileMatch({ [field]: expected }, path, patternOf, () => undefined);
      return {
        field,
        expected,
        actual: (witness) => seenAt(field, witness),
        holds: ({ facts }) => tests.every((test) => test(facts)),
      };
    });
}

/** `#3 POST /payout/initiate order-1 402 INSUFFICIENT_BALANCE` */
const inALine = ({ nth, method, url, clientRefId, answer, outcome, code }: Exchange): string =>
  [
    `#${nth}`,
    method,
    url.split('?', 1)[0],
    clientRefId,
    outcome === 'answered' ? answer?.status : outcome,
    code,
  ]
    .filter((part) => part !== undefined)
    .join(' ');

/** The requests that miss the fewest conditions, the newest first. */
function closest(witnesses: readonly Witness[], conditions: readonly Condition[]): VerifyAnswer['closest'] {
  const missed = witnesses.map((witness) => ({
    witness,
    misses: conditions.filter(({ holds }) => !holds(witness)),
  }));
  return missed
    .filter(({ misses }) => misses.length > 0)
    .toSorted((a, b) => a.misses.length - b.misses.length || b.witness.exchange.nth - a.witness.exchange.nth)
    .slice(0, CLOSEST)
    .map(({ witness, misses }) => ({
      id: witness.exchange.nth,
      request: inALine(witness.exchange),
      misses: misses.map(({ field, expected, actual }) => ({
        field,
        expected,
        actual: actual(witness) ?? null,
      })),
    }));
}

/** A request that matches, shown when too many do. */
const matched = ({ exchange }: Witness): VerifyAnswer['closest'][number] => ({
  id: exchange.nth,
  request: inALine(exchange),
  misses: [],
});

const requests = (count: number): string => `${count} ${count === 1 ? 'request' : 'requests'}`;

function wanted({ exactly, at_least, at_most }: NonNullable<Verification['count']>): string {
  const parts = [
    exactly === undefined ? null : `exactly ${exactly}`,
    at_least === undefined ? null : `at least ${at_least}`,
    at_most === undefined ? null : `at most ${at_most}`,
  ];
  return parts.filter((part) => part !== null).join(' and ');
}

/** Says that older requests, which the journal has dropped, are missing from a count. */
function dropped(evicted: number): string {
  if (evicted === 0) return '';
  const what = evicted === 1 ? '1 older request was' : `${evicted} older requests were`;
  const verb = evicted === 1 ? 'is' : 'are';
  return `; ${what} dropped from the journal and ${verb} not counted (SANDBOX_JOURNAL_ENTRIES)`;
}

/**
 * Checks the journal of a world against an expectation.
 *
 * @param report receives every condition that no request can meet; the answer must not be used then
 */
export function verify(
  exchanges: readonly Exchange[],
  evicted: number,
  expected: Verification,
  report: Report,
): VerifyAnswer {
  const { match, sequence, count = { at_least: 1 } } = expected;
  if (hasLargePatterns(expected, report))
    return { passed: false, count: 0, message: '', closest: [], evicted };
  const patternOf = countedPatterns();
  const witnesses = exchanges.map((exchange): Witness => ({ exchange, facts: factsOf(exchange) }));
  if (sequence !== undefined) {
    const steps = sequence.map((step, index) => conditionsOf(step, ['sequence', index], patternOf, report));
    let found = 0;
    let last = -1;
    for (const [index, witness] of witnesses.entries()) {
      const step = steps[found];
      if (step === undefined || !step.every(({ holds }) => holds(witness))) continue;
      found += 1;
      last = index;
    }
    const passed = found === steps.length;
    const message = passed
      ? `The whole sequence of ${requests(found)} was seen`
      : `${found} of the sequence of ${requests(steps.length)} were seen: nothing after them matches sequence[${found}]`;
    return {
      passed,
      count: found,
      message: message + (passed ? '' : dropped(evicted)),
      closest: passed ? [] : closest(witnesses.slice(last + 1), steps[found]!),
      evicted,
    };
  }
  const conditions = conditionsOf(match ?? {}, ['match'], patternOf, report);
  const matches = witnesses.filter((witness) => conditions.every(({ holds }) => holds(witness)));
  const matching = matches.length;
  const { exactly = matching, at_least = 0, at_most = Infinity } = count;
  const isTooFew = matching < exactly || matching < at_least;
  const passed = !isTooFew && matching <= exactly && matching <= at_most;
  return {
    passed,
    count: matching,
    message: `${requests(matching)} ${matching === 1 ? 'matches' : 'match'}; expected ${wanted(count)}${dropped(evicted)}`,
    closest: passed
      ? []
      : isTooFew
        ? closest(witnesses, conditions)
        : matches.slice(-CLOSEST).toReversed().map(matched),
    evicted,
  };
}

import type { RequestMatch, Verification } from '../../contract/control.ts';
import type { VerifyResponse } from '../../contract/control-responses.ts';
import { sentResponse } from '../request/response.ts';
import type { KeptRequest } from './kept-request.ts';
import { committed, factsOf, seenStatus } from './journal-entry.ts';
import { iso, timeOfDay } from '../../contract/times.ts';
import { inSteps, type Steps } from '../steps.ts';
import { tooManyPatterns } from '../../scenario/pattern.ts';
import { reportIn, type Report } from '../../scenario/planned-timeline.ts';
import { conditionsOf, type Condition as RuleCondition } from '../../scenario/rule-compiler.ts';
import type { RequestFacts } from '../../scenario/rule.ts';
import { counted } from '../../contract/words.ts';
import { withoutControls } from './journal-text.ts';

/** The message of a verification: the first line is the result; a failure also shows what was expected and what came closest. */

type Shown = VerifyResponse['closest'][number];
type Miss = Shown['misses'][number];

const LONGEST_VALUE = 200;

/** `exactly 2`, `at least 1 and at most 3` */
const wanted = (count: NonNullable<Verification['count']>): string =>
  (['exactly', 'at_least', 'at_most'] as const)
    .filter((bound) => count[bound] !== undefined)
    .map((bound) => `${bound.replace('_', ' ')} ${count[bound]}`)
    .join(' and ');

/** Says which requests are missing, and how to have them. */
export function evictedText(evicted: number): string {
  const were = counted(evicted, 'older request was', 'older requests were');
  return `${were} dropped: raise SANDBOX_JOURNAL_ENTRIES, or SANDBOX_JOURNAL_TOTAL if all worlds have more`;
}

/** Says that older requests, which the journal has dropped, are missing from a count. */
const dropped = (evicted: number): string => (evicted === 0 ? '' : `; ${evictedText(evicted)}`);

const countMessage = (count: number, expected: NonNullable<Verification['count']>, evicted: number): string =>
  `${counted(count, 'request')} ${count === 1 ? 'matches' : 'match'}; expected ${wanted(expected)}${dropped(evicted)}`;

const sequenceMessage = (found: number, steps: number, evicted: number): string =>
  found === steps
    ? `The whole sequence of ${counted(steps, 'request')} was seen`
    : `${found} of the sequence of ${counted(steps, 'request')} were seen: nothing after them matches sequence[${found}]${dropped(evicted)}`;

function valueText(field: string, value: unknown): string {
  const isRange = field === 'hours' && typeof value === 'object'; // one that came is a time
  const { from, to } = value as { readonly from: number; readonly to: number };
  const text = JSON.stringify(isRange ? { from: timeOfDay(from), to: timeOfDay(to) } : value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** The headers of a request that were expected. */
function expectedHeaders(expected: unknown, actual: unknown): unknown {
  const names = new Set(Object.keys(expected as object).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(actual as object).filter(([name]) => names.has(name)));
}

/** `amount is 100, expected 150`, and the names of the other fields that differ. */
function missText([first, ...others]: readonly Miss[]): string {
  const { field, expected, actual } = first!;
  const value = field === 'header' ? expectedHeaders(expected, actual) : actual;
  const what = value === null ? `no ${field}` : `${field} is ${valueText(field, value)}`;
  const more = others.map((miss) => miss.field).join(', ');
  const differ = others.length === 1 ? 'differs' : 'differ';
  return `${what}, expected ${valueText(field, expected)}${more === '' ? '' : ` (${more} ${differ} too)`}`;
}

/** `route "initiate", amount {"gte":100}` */
const matchText = (conditions: readonly Pick<RuleCondition, 'field' | 'wanted'>[]): string =>
  conditions.length === 0
    ? 'any request'
    : conditions.map(({ field, wanted }) => `${field} ${valueText(field, wanted)}`).join(', ');

/** One request in a line, with the first field that differs. */
const requestText = ({ request, misses }: Shown): string =>
  misses.length === 0 ? request : `${request}: ${missText(misses)}`;

/** Lines below the first line of a message. @param title introduces the requests, if there are any */
function withRequests(lines: readonly string[], title: string, requestsToShow: readonly Shown[]): string {
  const list =
    requestsToShow.length === 0 ? [] : [title, ...requestsToShow.map((one) => `  ${requestText(one)}`)];
  return [...lines, ...list].map(withoutControls).join('\n');
}

const NOTHING_CAME = 'No request came to this world: does the client use its url and its key?';

/** A request, with the facts that a match can test. */
interface Witness extends RequestFacts {
  readonly request: KeptRequest;
}

/** One condition of a match: of those of rules, or on what happened to the request. */
type Condition = Pick<RuleCondition, 'field' | 'wanted'> & {
  readonly seen: (witness: Witness) => unknown;
  readonly holds: (witness: Witness) => boolean;
};

const CLOSEST = 3;

/** The outcome of a request, by the names of a match. */
const BECAME: Readonly<Record<string, (request: KeptRequest) => unknown>> = {
  status: seenStatus,
  outcome: ({ outcome }) => outcome,
  rule: ({ rule }) => rule,
  fault: ({ fault }) => fault,
  committed,
  replayed: ({ replayed }) => replayed === true,
};

function conditionsOfMatch(match: RequestMatch, report: Report): readonly Condition[] {
  const { status, outcome, rule, fault, committed: isCommitted, replayed, ...ofRules } = match;
  const became = { status, outcome, rule, fault, committed: isCommitted, replayed };
  return [
    ...conditionsOf(ofRules, report),
    ...Object.entries(became)
      .filter(([, wanted]) => wanted !== undefined)
      .map(([field, wanted]): Condition => {
        const seen = ({ request }: Witness): unknown => BECAME[field]!(request);
        const accepted = new Set<unknown>([wanted].flat());
        return { field, wanted, seen, holds: (witness) => accepted.has(seen(witness)) };
      }),
  ];
}

/** `#3 POST /payout/initiate order-1 402 INSUFFICIENT_BALANCE` */
const inALine = (request: KeptRequest): string => {
  const { nth, method, url, clientRefId, outcome, code } = request;
  return [
    `#${nth}`,
    method,
    url.split('?', 1)[0],
    clientRefId,
    outcome === 'answered' ? sentResponse(request)?.status : outcome,
    code,
  ]
    .filter((part) => part !== undefined)
    .join(' ');
};

/** @param misses the conditions that it does not meet */
const shown = (witness: Witness, misses: readonly Condition[]): Shown => ({
  id: witness.request.nth,
  request: inALine(witness.request),
  misses: misses.map(({ field, wanted, seen }) => ({
    field,
    expected: wanted,
    actual: (field === 'hours' ? iso(witness.nowMs) : seen(witness)) ?? null,
  })),
});

/** A request, and the conditions that it does not meet. */
interface Compared {
  readonly witness: Witness;
  readonly misses: readonly Condition[];
}

/** Compares each request with a match, one in each step: regular expressions may take some milliseconds. */
function* compared(witnesses: readonly Witness[], conditions: readonly Condition[]) {
  const all: Compared[] = [];
  for (const witness of witnesses) {
    all.push({ witness, misses: conditions.filter(({ holds }) => !holds(witness)) });
    yield;
  }
  return all;
}

/** The requests that miss the fewest conditions, the newest first. */
const closest = (requests: readonly Compared[]): Shown[] =>
  requests
    .filter(({ misses }) => misses.length > 0)
    .toReversed()
    .toSorted((a, b) => a.misses.length - b.misses.length)
    .slice(0, CLOSEST)
    .map(({ witness, misses }) => shown(witness, misses));

type Verified = Pick<VerifyResponse, 'result' | 'count' | 'message' | 'closest'>;

/** Checks a journal against an expectation, in steps. @param report gets each condition that no request can meet: no response counts then */
export function* verify(
  requests: readonly KeptRequest[],
  evicted: number,
  { match = {}, sequence, count = { at_least: 1 } }: Verification,
  report: Report,
): Steps<VerifyResponse> {
  const excess = tooManyPatterns([match, ...(sequence ?? [])]);
  if (excess !== null) {
    report([sequence === undefined ? 'match' : 'sequence'], excess);
    return { passed: false, result: 'failed', count: 0, message: '', closest: [], evicted };
  }
  const conditionsAt = (one: RequestMatch, ...path: readonly PropertyKey[]): readonly Condition[] =>
    conditionsOfMatch(one, reportIn(report, ...path));
  const witnesses = yield* inSteps(requests, (request): Witness => ({ ...factsOf(request), request }));
  const steps = sequence?.map((step, index) => conditionsAt(step, 'sequence', index));
  const verified = steps
    ? yield* inSequence(witnesses, steps, evicted)
    : yield* inNumber(witnesses, conditionsAt(match, 'match'), count, evicted);
  return { passed: verified.result === 'passed', ...verified, evicted };
}

/** The second line of a failure when no request came to the world at all. */
const nothingCame = (witnesses: readonly Witness[], evicted: number): readonly string[] =>
  witnesses.length === 0 && evicted === 0 ? [NOTHING_CAME] : [];

function* inSequence(
  witnesses: readonly Witness[],
  steps: readonly (readonly Condition[])[],
  evicted: number,
): Steps<Verified> {
  const seen: Witness[] = [];
  let last = -1;
  for (const [index, witness] of witnesses.entries()) {
    yield;
    if (steps[seen.length]?.every(({ holds }) => holds(witness)) !== true) continue;
    seen.push(witness);
    last = index;
  }
  const count = seen.length;
  const text = sequenceMessage(count, steps.length, evicted);
  const missing = steps[count];
  if (missing === undefined) return { result: 'passed', count, message: text, closest: [] };
  const requests = yield* compared(witnesses, missing);
  const nearest = closest(requests.slice(last + 1));
  const early = requests.slice(0, last + 1).findLast(({ misses }) => misses.length === 0)?.witness;
  const lines = [
    text,
    ...seen.map(({ request }, index) => `sequence[${index}] is ${inALine(request)}`),
    `sequence[${count}] should be ${matchText(missing)}`,
    ...(early === undefined ? [] : [`${inALine(early.request)} matches it, but did not come after them`]),
    ...nothingCame(witnesses, evicted),
  ];
  const message = withRequests(lines, 'The closest after them:', nearest);
  return { result: evicted > 0 ? 'unknown' : 'failed', count, message, closest: nearest };
}

function* inNumber(
  witnesses: readonly Witness[],
  conditions: readonly Condition[],
  expected: NonNullable<Verification['count']>,
  evicted: number,
): Steps<Verified> {
  const requests = yield* compared(witnesses, conditions);
  const matches = requests.filter(({ misses }) => misses.length === 0);
  const count = matches.length;
  const { exactly, at_least = 0, at_most = Infinity } = expected;
  const least = Math.max(exactly ?? 0, at_least);
  const most = Math.min(exactly ?? Infinity, at_most);
  const isTooFew = count < least;
  // those that were dropped may match, or not
  const isSure = count > most || count + evicted < least;
  const isMet = !isTooFew && count + evicted <= most;
  const text = countMessage(count, expected, evicted);
  if (isMet) return { result: 'passed', count, message: text, closest: [] };
  const lines = [
    text,
    `Expected: ${matchText(conditions)}`,
    ...(isTooFew ? nothingCame(witnesses, evicted) : []),
  ];
  const latest = matches.slice(-CLOSEST).toReversed();
  const nearest = isTooFew ? closest(requests) : latest.map(({ witness }) => shown(witness, []));
  const title = isTooFew ? 'The closest that do not match:' : 'The latest that match:';
  const message = withRequests(lines, title, nearest);
  return { result: isSure ? 'failed' : 'unknown', count, message, closest: nearest };
}

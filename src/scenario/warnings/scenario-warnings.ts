import { durationText } from '../../contract/duration.ts';
import { iso } from '../../contract/instant.ts';
import type { Match } from '../../contract/match.ts';
import type {
  Effect,
  OutcomeDocument,
  RuleDocument,
  ScenarioDocument,
  Step,
} from '../../contract/scenario-document.ts';
import { HIDDEN_KEY, MAX_AMOUNT_INR, SECRET_HEADERS } from '../../contract/service.ts';
import { outcomeName } from '../outcome.ts';
import { reportIn, type Report } from '../planned-timeline.ts';
import { linearPattern } from '../pattern.ts';
import { ruleName, textTest } from '../rule-compiler.ts';
import { replacesBody, showsResponse } from '../rule.ts';
import { isWithin, takesAllOf } from './implication.ts';

/** The part of a rule or an outcome that decides which requests it leaves to those after it. */
interface Choice extends Pick<RuleDocument, 'match' | 'during'> {
  readonly name: string;
  /** Whether it takes every request that it matches. */
  readonly takesAll: boolean;
}

const ruleChoice = (rule: RuleDocument, index: number): Choice => ({
  ...rule,
  name: ruleName(rule, index),
  takesAll:
    (rule.skip ?? 0) === 0 &&
    rule.times === undefined &&
    (rule.probability ?? 1) === 1 &&
    rule.effect.limit === undefined,
});

const outcomeChoice = (outcome: OutcomeDocument, index: number): Choice => ({
  ...outcome,
  name: outcomeName(outcome, index),
  takesAll: true,
});

/** Warns of rules or outcomes that are never reached, since an earlier one takes everything that they match. */
function warnOfShadows(choices: readonly Choice[], what: string, warn: Report): void {
  const before: { readonly earlier: Choice; readonly takesAllOf: (match: Match) => boolean }[] = [];
  for (const [index, choice] of choices.entries()) {
    const { match = {}, during } = choice;
    const taking = before.find((one) => one.takesAllOf(match) && isWithin(during, one.earlier.during));
    if (taking !== undefined)
      warn([index], `never applies: ${taking.earlier.name} comes first and takes all of its ${what}s`);
    else if (choice.takesAll) before.push({ earlier: choice, takesAllOf: takesAllOf(match) });
  }
}

type NumberMatch = NonNullable<Match['amount']>;

/** Whether a whole number of parts, at least one of them, matches a condition. @param parts of one @param most of one */
function takesWhole(match: NumberMatch, parts = 1, most = Infinity): boolean {
  const inParts = (value: number): number => Number((value * parts).toFixed(4)); // a product of floats is not exact
  if (typeof match === 'number' || Array.isArray(match)) {
    return [match].flat().some((value) => value > 0 && value <= most && Number.isInteger(inParts(value)));
  }
  const { gt = 0, gte = 0, lt = Infinity, lte = Infinity } = match;
  const low = Math.max(1, Math.floor(inParts(gt)) + 1, Math.ceil(inParts(gte)));
  return low <= Math.min(inParts(most), Math.ceil(inParts(lt)) - 1, Math.floor(inParts(lte)));
}

/** Warns of a condition that no number meets, and of each number in a list that none can be. */
function warnOfNumber(
  wanted: NumberMatch | undefined,
  what: string,
  report: Report,
  ...range: number[]
): void {
  if (wanted === undefined) return;
  const never = (one: NumberMatch): boolean => !takesWhole(one, ...range);
  if (!Array.isArray(wanted)) {
    if (never(wanted)) report([], `can never match: ${what}`);
    return;
  }
  for (const one of wanted.filter(never)) report([], `can never match ${one}: ${what}`);
}

function warnOfNumbers({ amount, attempt, payout }: Match, warn: Report): void {
  for (const [field, wanted] of Object.entries({ attempt, payout }))
    warnOfNumber(wanted, 'it is a whole number, counted from 1', reportIn(warn, field));
  const what = `an amount is more than 0 INR, at most ${MAX_AMOUNT_INR}, in whole paise`;
  warnOfNumber(amount, what, reportIn(warn, 'amount'), 100, MAX_AMOUNT_INR);
}

/** Why an effect makes no payout; null when it makes one. */
function whyNoPayout({ commit, respond, fault, limit }: Effect, faultKind: string): string | null {
  if (commit !== undefined) return commit ? null : 'commit: false makes no payout';
  const part =
    respond !== undefined ? 'respond' : fault !== undefined ? `the fault ${faultKind}` : limit && 'limit';
  return part === undefined ? null : `${part} makes no payout without commit: true`;
}

/** Warns of parts of an effect that the rest of it makes useless. */
function warnOfEffect(effect: Effect, warn: Report): void {
  const { respond = null, fault, limit, timeline, not_found, stale } = effect;
  const kind = typeof fault === 'object' ? fault.kind : fault;
  const noPayout = whyNoPayout(effect, kind ?? '');
  for (const [part, value] of Object.entries({ timeline, not_found })) {
    if (value !== undefined && noPayout !== null) warn([part], `is never used: ${noPayout}`);
  }
  const unseen = showsResponse(kind) ? null : `the fault ${kind} shows no response`;
  if (respond !== null && unseen !== null) warn(['respond'], `is never seen by a client: ${unseen}`);
  if (stale === undefined) return;
  const isReplaced = respond === null ? limit !== undefined : replacesBody(respond);
  const why = unseen ?? (isReplaced ? 'the rule sends another response' : null);
  if (why !== null) warn(['stale'], `is never seen by a client: ${why}`);
}

const isDate = (text: string): boolean => {
  const atMs = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(`${text}T`);
};

/** `-01-01` to `-12-31`, with that of a leap year. */
const DAYS = Array.from({ length: 366 }, (_, day) => iso(Date.UTC(2024, 0, 1 + day)).slice(4, 10));
const YEAR = /^\d{0,4}$/;
const beginsDate = (text: string): boolean =>
  text.length < 10
    ? YEAR.test(text.slice(0, 4)) && DAYS.some((day) => day.startsWith(text.slice(4)))
    : isDate(text);
const endsDate = (text: string): boolean =>
  YEAR.test(text.slice(0, -6)) && DAYS.some((day) => day.endsWith(text.slice(-6)));

function warnOfDates({ date = {} }: Match, warn: Report): void {
  if (typeof date === 'object' && !Array.isArray(date)) {
    const { prefix = '', suffix = '' } = date;
    const never = (end: string): void => warn(['date'], `can never match: no date such as 2026-01-26 ${end}`);
    if (!beginsDate(prefix)) never(`begins with ${JSON.stringify(prefix)}`);
    if (!endsDate(suffix)) never(`ends with ${JSON.stringify(suffix)}`);
    return;
  }
  for (const text of [date].flat())
    if (!isDate(text))
      warn(
        ['date'],
        `can never match ${JSON.stringify(text)}: there is no such date. A date is written as 2026-01-26`,
      );
}

/** Warns of conditions on headers that hold a key, which rules do not see. */
function warnOfHeaders({ header = {} }: Match, warn: Report): void {
  for (const [name, wanted] of Object.entries(header)) {
    const isSeen = textTest(wanted, linearPattern, () => undefined);
    if (SECRET_HEADERS.has(name.toLowerCase()) && !isSeen(HIDDEN_KEY))
      warn(['header', name], `can never match: it holds a key, and rules see ${HIDDEN_KEY} instead`);
  }
}

const DAY_MS = 86_400_000;

/** Warns of a step with `after` that may come later than it says, since one before it waits for a time of day. */
function warnOfTimeline(steps: readonly Step[], warn: Report): void {
  let latestMs = 0;
  for (const [index, { after, at }] of steps.entries()) {
    if (at !== undefined) latestMs += DAY_MS;
    if (after !== undefined && after < latestMs)
      warn(
        [index, 'after'],
        `may come later than ${durationText(after)} after initiate, since the step before it can take up to ${durationText(latestMs)}`,
      );
    latestMs = Math.max(latestMs, after ?? 0);
  }
}

function warnOfSteps({ timeline, weighted = [], utr }: OutcomeDocument, warn: Report): void {
  if (timeline !== undefined) warnOfTimeline(timeline, reportIn(warn, 'timeline'));
  for (const [index, one] of weighted.entries())
    warnOfTimeline(one.timeline, reportIn(warn, 'weighted', index, 'timeline'));
  const own = timeline === undefined ? weighted.map((one) => one.timeline) : [timeline];
  const isFailed = (steps: readonly Step[]): boolean =>
    steps.some(({ to, after }) => to === 'FAILED' && after !== undefined && after <= Number(utr));
  if (typeof utr === 'number' && own.length > 0 && own.every(isFailed))
    warn(['utr'], 'is never set: the payout has FAILED by then');
}

/** Warns of the rules and outcomes of a correct scenario that are certainly never used, or never have their effect. */
export function warnOfScenario(
  { settlement, outcomes = [], rules = [] }: ScenarioDocument,
  warn: Report,
): void {
  const warnOfMatch = (match: Match = {}, report: Report): void => {
    warnOfNumbers(match, reportIn(report, 'match'));
    warnOfDates(match, reportIn(report, 'match'));
    warnOfHeaders(match, reportIn(report, 'match'));
  };
  if (Array.isArray(settlement)) warnOfTimeline(settlement, reportIn(warn, 'settlement'));
  else if (typeof settlement === 'object')
    for (const [mode, steps] of Object.entries(settlement))
      warnOfTimeline(steps ?? [], reportIn(warn, 'settlement', mode));
  for (const [index, outcome] of outcomes.entries()) {
    warnOfMatch(outcome.match, reportIn(warn, 'outcomes', index));
    warnOfSteps(outcome, reportIn(warn, 'outcomes', index));
  }
  warnOfShadows(outcomes.map(outcomeChoice), 'payout', reportIn(warn, 'outcomes'));
  for (const [index, rule] of rules.entries()) {
    const report = reportIn(warn, 'rules', index);
    warnOfMatch(rule.match, report);
    if (rule.probability === 0) report(['probability'], 'is 0, so the rule never applies');
    warnOfEffect(rule.effect, reportIn(report, 'effect'));
    warnOfTimeline(rule.effect.timeline ?? [], reportIn(report, 'effect', 'timeline'));
  }
  warnOfShadows(rules.map(ruleChoice), 'request', reportIn(warn, 'rules'));
}

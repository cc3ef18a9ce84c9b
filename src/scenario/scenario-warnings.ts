import { durationText } from '../contract/duration.ts';
import type { Match } from '../contract/match.ts';
import type {
  EffectDocument,
  OutcomeDocument,
  RuleDocument,
  StepDocument,
} from '../contract/scenario-document.ts';
import { HIDDEN_KEY, SECRET_HEADERS } from '../contract/service.ts';
import { outcomeName } from './outcome.ts';
import { reportIn, type Report } from './planned-timeline.ts';
import { ruleName, textTest } from './rule-compiler.ts';
import { replacesBody, showsResponse } from './rule.ts';
import type { ShapedScenario } from './scenario-shape.ts';

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

/** Warns of rules or outcomes that are never reached, since an earlier one with the same match, or with none, takes all of them. */
function warnOfHidden(choices: readonly Choice[], what: string, warn: Report): void {
  const taking = new Map<string, string>(); // the name of the first one, by its match and window as text
  const textOf = ({ match = {}, during = {} }: Partial<Choice>): string => JSON.stringify([match, during]);
  for (const [index, choice] of choices.entries()) {
    const earlier = taking.get(textOf(choice)) ?? taking.get(textOf({}));
    if (earlier !== undefined)
      warn([index], `never applies: ${earlier} comes first and takes all of its ${what}s`);
    else if (choice.takesAll) taking.set(textOf(choice), choice.name);
  }
}

/** Warns of each number of a condition that no request has. @param parts the smallest part of one: paise of a rupee */
function warnOfNumber(wanted: Match['amount'], parts: number, what: string, report: Report): void {
  const numbers = typeof wanted === 'number' || Array.isArray(wanted) ? [wanted].flat() : [];
  for (const one of numbers) {
    const isWhole = Number.isInteger(Number((one * parts).toFixed(4))); // a product of floats is not exact
    if (one <= 0 || !isWhole) report([], `can never match ${one}: ${what}`);
  }
}

function warnOfNumbers({ amount, attempt, payout }: Match, warn: Report): void {
  for (const [field, wanted] of Object.entries({ attempt, payout }))
    warnOfNumber(wanted, 1, 'it is a whole number, counted from 1', reportIn(warn, field));
  warnOfNumber(amount, 100, 'an amount is more than 0 INR, in whole paise', reportIn(warn, 'amount'));
}

/** Why an effect makes no payout; null when it makes one. */
function whyNoPayout({ commit, respond, fault, limit }: EffectDocument, faultKind: string): string | null {
  if (commit !== undefined) return commit ? null : 'commit: false makes no payout';
  const part =
    respond !== undefined ? 'respond' : fault !== undefined ? `the fault ${faultKind}` : limit && 'limit';
  return part === undefined ? null : `${part} makes no payout without commit: true`;
}

/** Warns of parts of an effect that the rest of it makes useless. */
function warnOfEffect(effect: EffectDocument, warn: Report): void {
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

function warnOfDates({ date = [] }: Match, warn: Report): void {
  for (const text of typeof date === 'string' || Array.isArray(date) ? [date].flat() : [])
    if (!isDate(text))
      warn(
        ['date'],
        `can never match ${JSON.stringify(text)}: there is no such date. A date is written as 2026-01-26`,
      );
}

/** Warns of conditions on headers that hold a key, which rules do not see. */
function warnOfHeaders({ header = {} }: Match, warn: Report): void {
  for (const [name, wanted] of Object.entries(header)) {
    const isSeen = textTest(wanted, () => undefined);
    if (SECRET_HEADERS.has(name.toLowerCase()) && !isSeen(HIDDEN_KEY))
      warn(['header', name], `can never match: it holds a key, and rules see ${HIDDEN_KEY} instead`);
  }
}

const DAY_MS = 86_400_000;

/** Warns of a step with `after` that may come later than it says, since one before it waits for a time of day. */
function warnOfTimeline(steps: readonly StepDocument[], warn: Report): void {
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
  const isFailed = (steps: readonly StepDocument[]): boolean =>
    steps.some(({ to, after }) => to === 'FAILED' && after !== undefined && after <= Number(utr));
  if (typeof utr === 'number' && own.length > 0 && own.every(isFailed))
    warn(['utr'], 'is never set: the payout has FAILED by then');
}

/** Warns of the rules and outcomes of a correct scenario that are certainly never used, or never have their effect. */
export function warnOfScenario({ settlement, ...lists }: ShapedScenario, warn: Report): void {
  const outcomes = lists.outcomes.filter((outcome) => outcome !== null);
  const rules = lists.rules.filter((rule) => rule !== null);
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
  warnOfHidden(outcomes.map(outcomeChoice), 'payout', reportIn(warn, 'outcomes'));
  for (const [index, rule] of rules.entries()) {
    const report = reportIn(warn, 'rules', index);
    warnOfMatch(rule.match, report);
    if (rule.probability === 0) report(['probability'], 'is 0, so the rule never applies');
    warnOfEffect(rule.effect, reportIn(report, 'effect'));
    warnOfTimeline(rule.effect.timeline ?? [], reportIn(report, 'effect', 'timeline'));
  }
  warnOfHidden(rules.map(ruleChoice), 'request', reportIn(warn, 'rules'));
}

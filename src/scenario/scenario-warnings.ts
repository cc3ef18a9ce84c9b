import type { Match } from '../contract/match.ts';
import type { OutcomeDocument, RuleDocument, StepDocument } from '../contract/scenario-document.ts';
import { outcomeName, ruleName } from './rule-compiler.ts';
import { reportIn, type Report } from './planned-timeline.ts';
import type { ShapedScenario } from './scenario.ts';

/** Whether a rule or an outcome takes every request that it matches. */
const takesAll = (one: RuleDocument | OutcomeDocument): boolean =>
  !('effect' in one) ||
  ((one.skip ?? 0) === 0 &&
    one.times === undefined &&
    (one.probability ?? 1) === 1 &&
    one.effect.limit === undefined);

/** Warns of rules or outcomes that are never reached, since an earlier one with the same match, or with none, takes all of them. */
function warnOfHidden<T extends RuleDocument | OutcomeDocument>(
  list: readonly T[],
  nameOf: (one: T, index: number) => string,
  what: string,
  warn: Report,
): void {
  const taking = new Map<string, string>(); // the name of the first one, by its match and window as text
  const textOf = ({ match = {}, during = {} }: Pick<T, 'match' | 'during'>): string =>
    JSON.stringify([match, during]);
  for (const [index, one] of list.entries()) {
    const earlier = taking.get(textOf(one)) ?? taking.get(JSON.stringify([{}, {}]));
    if (earlier !== undefined)
      warn([index], `never applies: ${earlier} comes first and takes all of its ${what}s`);
    else if (takesAll(one)) taking.set(textOf(one), nameOf(one, index));
  }
}

/** Warns of texts that were meant as a pattern: HDFC*. */
function warnOfStars({ header, ...fields }: Match, warn: Report): void {
  for (const [field, wanted] of Object.entries({ ...fields, ...header })) {
    const texts = [wanted].flat().filter((text) => typeof text === 'string');
    for (const text of texts) {
      const [, front, star, back] = /^(\*?)([^*]+)(\*?)$/.exec(text) ?? [];
      if (star === undefined || front === back) continue;
      const meant = back === '*' ? 'prefix' : 'suffix';
      warn([field], `matches a * itself, as all other characters: write { ${meant}: ${star} }`);
    }
  }
}

/** Warns of steps that set a UTR which the payout already has. */
function warnOfUtrs(steps: readonly StepDocument[], warn: Report): void {
  let isSet = false;
  for (const [index, { to, utr }] of steps.entries()) {
    if (utr === 'now' && isSet) warn([index, 'utr'], 'does nothing: an earlier step has set the UTR');
    isSet ||= utr === 'now' || (utr === undefined && (to === 'SUCCESS' || to === 'REVERSED'));
  }
}

function warnOfSettlement(settlement: ShapedScenario['settlement'], warn: Report): void {
  if (Array.isArray(settlement)) return warnOfUtrs(settlement, warn);
  if (typeof settlement !== 'object') return;
  for (const [mode, steps] of Object.entries(settlement)) warnOfUtrs(steps ?? [], reportIn(warn, mode));
}

/** Warns of what a correct scenario cannot mean as it is written. */
export function warnOfScenario(lists: ShapedScenario, warn: Report): void {
  const outcomes = lists.outcomes.filter((outcome) => outcome !== null);
  const rules = lists.rules.filter((rule) => rule !== null);
  warnOfSettlement(lists.settlement, reportIn(warn, 'settlement'));
  for (const [index, { match = {}, timeline = [], weighted = [] }] of outcomes.entries()) {
    const report = reportIn(warn, 'outcomes', index);
    warnOfStars(match, reportIn(report, 'match'));
    warnOfUtrs(timeline, reportIn(report, 'timeline'));
    for (const [nth, one] of weighted.entries())
      warnOfUtrs(one.timeline, reportIn(report, 'weighted', nth, 'timeline'));
  }
  warnOfHidden(outcomes, outcomeName, 'payout', reportIn(warn, 'outcomes'));
  for (const [index, { effect, match = {} }] of rules.entries()) {
    const report = reportIn(warn, 'rules', index);
    warnOfStars(match, reportIn(report, 'match'));
    warnOfUtrs(effect.timeline ?? [], reportIn(report, 'effect', 'timeline'));
  }
  warnOfHidden(rules, ruleName, 'request', reportIn(warn, 'rules'));
}

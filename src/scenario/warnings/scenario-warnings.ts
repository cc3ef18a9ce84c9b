import type { Match } from '../../contract/match.ts';
import type { OutcomeDocument, RuleDocument, ScenarioDocument } from '../../contract/scenario-document.ts';
import { HIDDEN_KEY, SECRET_HEADERS } from '../../contract/service.ts';
import { outcomeName } from '../outcome.ts';
import { reportIn, type Report } from '../planned-timeline.ts';
import { linearPattern } from '../pattern.ts';
import { ruleName, textTest } from '../rule-compiler.ts';
import { isWithin, takesAllOf } from './implication.ts';
import { mostRequests, warnOfNumbers } from './request-counts.ts';
import { warnOfEffect } from './effect-warnings.ts';

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
      warn([index], `never applies: ${taking.earlier.name} before it takes every ${what} that it matches`);
    else if (choice.takesAll) before.push({ earlier: choice, takesAllOf: takesAllOf(match) });
  }
}

/** Warns of a rule that never applies because of its own numbers. */
function warnOfCounts({ match = {}, skip = 0, times, probability }: RuleDocument, warn: Report): void {
  const most = mostRequests(match);
  const count = `at most ${most} ${most === 1 ? 'request' : 'requests'} of a world`;
  if (probability === 0) warn(['probability'], 'is 0, so the rule never applies');
  if (skip > 0 && skip >= most) warn(['skip'], `ignores all that the rule can match: ${count}`);
  else if (times !== undefined && times > most - skip)
    warn(['times'], `is never reached: the rule can match ${count}${skip > 0 ? `, and skips ${skip}` : ''}`);
}

/** Warns of conditions on headers that hold a key, which rules do not see. */
function warnOfHeaders({ header = {} }: Match, warn: Report): void {
  for (const [name, wanted] of Object.entries(header)) {
    const isSeen = textTest(wanted, linearPattern, () => undefined);
    if (SECRET_HEADERS.has(name.toLowerCase()) && !isSeen(HIDDEN_KEY))
      warn(['header', name], `can never match: it holds a key, and rules see ${HIDDEN_KEY} instead`);
  }
}

/**
 * Warns of the rules and outcomes of a correct scenario that are never used, or never have their effect. It warns only of what
 * is certain.
 */
export function warnOfScenario({ outcomes = [], rules = [] }: ScenarioDocument, warn: Report): void {
  const warnOfMatch = (match: Match = {}, report: Report): void => {
    warnOfNumbers(match, reportIn(report, 'match'));
    warnOfHeaders(match, reportIn(report, 'match'));
  };
  for (const [index, { match }] of outcomes.entries()) {
    warnOfMatch(match, reportIn(warn, 'outcomes', index));
  }
  warnOfShadows(outcomes.map(outcomeChoice), 'payout', reportIn(warn, 'outcomes'));
  for (const [index, rule] of rules.entries()) {
    const report = reportIn(warn, 'rules', index);
    warnOfMatch(rule.match, report);
    warnOfCounts(rule, report);
    warnOfEffect(rule.effect, reportIn(report, 'effect'));
  }
  warnOfShadows(rules.map(ruleChoice), 'request', reportIn(warn, 'rules'));
}

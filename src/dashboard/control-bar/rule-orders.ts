import type { RuleRequest } from '../../contract/control.ts';
import { perform, type Effects, type Said } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';

/** What an action that changes rules does, besides what it says. */
export const RULE_EFFECTS: Effects = { causes: ['scenario'], undo: true };

/** Makes these calls one after another, with a message that says how it ended. */
export function changeRules(live: LiveWorld, calls: readonly (() => Promise<unknown>)[], text: string): void {
  const act = async (): Promise<Said> => {
    for (const call of calls) await call();
    return { text, actions: calls.length };
  };
  void perform(live, act, RULE_EFFECTS);
}

/** Puts a rule before all others. */
export const orderRule = (live: LiveWorld, rule: RuleRequest, text: string): void =>
  changeRules(live, [() => live.world.rule(rule)], `Added: ${text}.`);

export const removeRule = (live: LiveWorld, name: string): void =>
  changeRules(live, [() => live.world.removeRule(name)], `${name} is removed.`);

/** Removes all overrides, and returns to the scenario of the server. */
export function backToNormal(live: LiveWorld): void {
  const { rules = [], chosen = false } = live.scenario.value ?? {};
  const calls = [
    ...(rules.some(({ from }) => from === 'world') ? [() => live.world.removeRule()] : []),
    ...(chosen ? [() => live.world.use(null)] : []),
  ];
  changeRules(live, calls, 'Back to normal.');
}

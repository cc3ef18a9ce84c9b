import type { RuleRequest } from '../../contract/control.ts';
import { perform, type Effects, type Said } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';

/** What an action that changes rules does, besides what it says. */
export const RULE_EFFECTS: Effects = { causes: ['scenario'], undo: true };

/** Does something with the rules of a world, in so many control actions, and takes what they are then. @returns what it did */
export async function changedRules(live: LiveWorld, act: () => Promise<number>, text: string): Promise<Said> {
  const actions = await act();
  live.takeScenario(await live.world.scenario());
  return { text, actions };
}

/** Makes these calls one after another, with a message that says how it ended. */
export function changeRules(live: LiveWorld, calls: readonly (() => Promise<unknown>)[], said: string): void {
  const act = async (): Promise<number> => {
    for (const call of calls) await call();
    return calls.length;
  };
  void perform(live, () => changedRules(live, act, said), RULE_EFFECTS);
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

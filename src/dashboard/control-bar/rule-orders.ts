import type { RuleRequest } from '../../contract/control.ts';
import { perform, type Effects } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';

/** What an action that changes rules does, besides what it says. */
export const RULE_EFFECTS: Effects = { causes: ['scenario'], undo: true };

/** Does something with the rules of a world, and takes what they are then. @returns what it did */
export async function changedRules(
  live: LiveWorld,
  act: () => Promise<unknown>,
  said: string,
): Promise<string> {
  await act();
  live.takeScenario(await live.world.scenario());
  return said;
}

/** The same, with a message that says how it ended. */
export const changeRules = (live: LiveWorld, act: () => Promise<unknown>, said: string): void =>
  void perform(live, () => changedRules(live, act, said), RULE_EFFECTS);

/** Puts a rule before all others. */
export const orderRule = (live: LiveWorld, rule: RuleRequest, text: string): void =>
  changeRules(live, () => live.world.rule(rule), `Ordered: ${text}.`);

export const removeRule = (live: LiveWorld, name: string): void =>
  changeRules(live, () => live.world.removeRule(name), `${name} is removed.`);

/** Removes all overrides, and returns to the scenario of the server. */
export const backToNormal = (live: LiveWorld): void =>
  changeRules(
    live,
    async () => {
      if (live.scenario.value?.rules.some(({ from }) => from === 'world')) await live.world.removeRule();
      if (live.scenario.value?.chosen === true) await live.world.use(null);
    },
    'Back to normal.',
  );

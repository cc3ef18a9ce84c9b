import type { RuleRequest } from '../../contract/control.ts';
import { perform } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';

/** Does something with the rules of a world, and shows what they are then. */
export const changeRules = (
  live: LiveWorld,
  act: () => Promise<unknown>,
  said: string,
): Promise<string | null> =>
  perform(
    live,
    async () => {
      await act();
      live.takeScenario(await live.world.scenario());
      return said;
    },
    { causes: ['scenario'], undo: true },
  );

/** Puts a rule before all others. */
export const orderRule = (live: LiveWorld, rule: RuleRequest, text: string): Promise<string | null> =>
  changeRules(live, () => live.world.rule(rule), `Ordered: ${text}.`);

export const removeRule = (live: LiveWorld, name: string): Promise<string | null> =>
  changeRules(live, () => live.world.removeRule(name), `${name} is removed.`);

/** Removes all overrides, and returns to the scenario of the server. */
export const backToNormal = (live: LiveWorld): Promise<string | null> =>
  changeRules(
    live,
    async () => {
      if (live.scenario.value?.rules.some(({ from }) => from === 'world')) await live.world.removeRule();
      if (live.scenario.value?.chosen === true) await live.world.use(null);
    },
    'Back to normal.',
  );

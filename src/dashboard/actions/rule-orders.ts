import type { RuleResponse } from '../../contract/control-responses.ts';
import { perform } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { inTime } from '../store/world-pages.ts';
import type { NamedRule } from './failure-kinds.ts';

let latest: Promise<void> = Promise.resolve(); // one change after another, since a new rule is named after those that are there

/** Makes these calls one after another, with a message that says how it ended. */
export function changeRules(live: LiveWorld, calls: readonly (() => Promise<unknown>)[], text: string): void {
  const act = async (): Promise<string> => {
    for (const call of calls) await call();
    return text;
  };
  latest = latest.then(() => perform(live, () => inTime(act()), ['scenario'])); // the others do not wait for one without a response
}

/** Puts a rule behind the other overrides, with a number after its name if the world has a rule of that name. */
export function orderRule(live: LiveWorld, rule: NamedRule): void {
  const order = async (): Promise<unknown> => {
    const taken = new Set((await live.world.rules('world')).map(({ name }) => name));
    let { name } = rule;
    for (let nth = 2; taken.has(name); nth += 1) name = `${rule.name}-${nth}`;
    return live.world.rule({ ...rule, name }, { last: true });
  };
  changeRules(live, [order], `Added: ${rule.description}.`);
}

/** Removes overrides. */
export const removeRules = (live: LiveWorld, rules: readonly RuleResponse[], text: string): void =>
  changeRules(
    live,
    rules.map(({ name }) => live.world.removeRule.bind(live.world, name)),
    text,
  );

export const removeRule = (live: LiveWorld, rule: RuleResponse): void =>
  removeRules(live, [rule], `${rule.name} is removed.`);

/** Uses a scenario for this world. That of the server is followed, not chosen: then the world changes with it. */
export function chooseScenario(live: LiveWorld, name: string): void {
  const isServers = name === live.scenarios.value?.in_force;
  changeRules(live, [() => live.world.use(isServers ? null : name)], `The scenario is ${name}.`);
}

/** Removes all overrides, and returns to the scenario of the server. */
export function backToNormal(live: LiveWorld): void {
  const { rules = [], chosen = false } = live.scenario.value ?? {};
  const calls = [
    ...(rules.some(({ from }) => from === 'world') ? [() => live.world.removeRule()] : []),
    ...(chosen ? [() => live.world.use(null)] : []),
  ];
  changeRules(live, calls, 'Back to normal.');
}

import type { World } from '../../client/controlled-world.ts';
import type { RuleRequest } from '../../contract/control.ts';
import type { RuleResponse } from '../../contract/control-responses.ts';

const FIRST_RULE = {
  name: 'my-rule',
  match: { route: 'initiate', amount: { gte: 5000 } },
  effect: { commit: true, respond: { status: 500 } },
} as const satisfies RuleRequest;

const requestOf = ({ name, rule }: RuleResponse): RuleRequest => ({ name, ...(rule as RuleRequest) });

/** The overrides of a world as a scenario to edit; an example rule if there are none. */
export const rulesDocument = (top: readonly RuleResponse[]): { readonly rules: readonly object[] } => ({
  rules: top.length === 0 ? [FIRST_RULE] : top.map(requestOf),
});

/** Puts rules before those that are there. @returns their names */
async function putAll(world: World, rules: readonly RuleRequest[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (const rule of rules.toReversed()) names.add((await world.rule(rule)).name);
  return names;
}

/** @returns how many it removed */
async function removeOthers(world: World, names: ReadonlySet<string>): Promise<number> {
  const others = (await world.rules('world')).filter(({ name }) => !names.has(name));
  for (const { name } of others) await world.removeRule(name);
  return others.length;
}

/**
 * Replaces the overrides of a world with those of a document. If one of them is refused, the former ones are put back.
 *
 * @returns how many control actions that took
 */
export async function putRules(world: World, document: unknown): Promise<number> {
  const { rules = [], ...others } = document as { rules?: readonly RuleRequest[] };
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new Error(`Only rules can be overrides: write ${other} into the scenario itself.`);
  }
  const former = await world.rules('world');
  try {
    const put = await putAll(world, rules);
    return rules.length + (await removeOthers(world, put)); // only now, so that no request meets a world without its rules
  } catch (error) {
    await removeOthers(world, new Set(former.map(({ name }) => name)));
    await putAll(world, former.map(requestOf));
    throw error;
  }
}

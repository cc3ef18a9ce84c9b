import type { World } from '../../client/world.ts';
import type { RuleRequest } from '../../contract/control.ts';
import type { RuleAnswer } from '../../contract/control-answers.ts';

const FIRST_RULE = {
  name: 'my-rule',
  match: { route: 'initiate', amount: { gte: 5000 } },
  effect: { commit: true, respond: { status: 500 } },
} as const satisfies RuleRequest;

/** The rules on top of a world as a scenario to edit; an example rule if there are none. */
export const rulesDocument = (top: readonly RuleAnswer[]): { readonly rules: readonly object[] } => ({
  rules: top.length === 0 ? [FIRST_RULE] : top.map(({ name, rule }) => ({ name, ...(rule as object) })),
});

/** Replaces the rules on top of a world with those of a document. */
export async function putRules(world: World, document: unknown): Promise<void> {
  const { rules = [], ...others } = document as { rules?: readonly RuleRequest[] };
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new Error(`Only rules can be put on top of a scenario: write ${other} into the scenario itself.`);
  }
  await world.removeRule();
  for (const rule of rules.toReversed()) await world.rule(rule); // each goes before the existing ones
}

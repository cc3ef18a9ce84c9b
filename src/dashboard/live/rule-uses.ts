import type { RuleAnswer, ScenarioAnswer } from '../../contract/control-answers.ts';

interface RuleUse {
  readonly rule: string;
  readonly matched: number;
  readonly taken: number;
}

/** A scenario with the counts of its rules as the events of their uses report them. */
export function afterUses(scenario: ScenarioAnswer, uses: readonly RuleUse[]): ScenarioAnswer {
  const byId = new Map(uses.map((use) => [use.rule, use]));
  const rules = scenario.rules.map((rule): RuleAnswer => {
    const use = byId.get(rule.id);
    return use === undefined ? rule : { ...rule, matched: use.matched, taken: use.taken };
  });
  return { ...scenario, rules };
}

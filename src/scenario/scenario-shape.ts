import { z } from 'zod';
import { MAX_ITEMS, OutcomeDocument, RuleDocument, ScenarioDocument } from '../contract/scenario-document.ts';
import { parseShape, type Issue } from '../contract/shape-issues.ts';

/** A scenario document. An outcome or a rule of the wrong shape is null, so that the others keep their positions. */
export interface ShapedScenario extends Omit<ScenarioDocument, 'outcomes' | 'rules'> {
  readonly outcomes: readonly (OutcomeDocument | null)[];
  readonly rules: readonly (RuleDocument | null)[];
}

const Items = z.array(z.unknown()).optional();
const Frame = ScenarioDocument.extend({ outcomes: Items, rules: Items });

/** The shape of a scenario document, and what is wrong with it. Items are checked one by one: an error in one hides none in the others. */
export function scenarioShape(input: unknown): {
  readonly document: ShapedScenario;
  readonly issues: readonly Issue[];
} {
  const { value: frame, issues: found = [] } = parseShape(Frame, input);
  const issues = [...found];
  const itemsOf = <T extends z.ZodType>(list: 'outcomes' | 'rules', schema: T): (z.output<T> | null)[] => {
    const items = found[0]?.path.length === 0 ? [] : (input as Readonly<Record<string, unknown>>)[list];
    if (!Array.isArray(items)) return [];
    if (items.length > MAX_ITEMS) {
      issues.push({ path: [list], message: `must be at most ${MAX_ITEMS} ${list}`, isUnknownKey: false });
      return [];
    }
    return items.map((item: unknown, index) => {
      const { value = null, issues: ofItem = [] } = parseShape(schema, item);
      for (const issue of ofItem) issues.push({ ...issue, path: [list, index, ...issue.path] });
      return value;
    });
  };
  const outcomes = itemsOf('outcomes', OutcomeDocument);
  const rules = itemsOf('rules', RuleDocument);
  return { document: { ...frame, outcomes, rules }, issues };
}

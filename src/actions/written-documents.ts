import { z } from 'zod';
import { ExpectedPayout } from '../contract/conduct.ts';
import { RuleRequest, type ScenarioInput } from '../contract/control.ts';
import { ScenarioDocument } from '../contract/scenario-document.ts';
import { reported } from '../contract/shape-issues.ts';
import { checkedShape, problemText, readText } from '../scenario/scenario-text.ts';
import { SettingsError } from '../settings.ts';
import type { Texts } from './sandbox-action.ts';

/** Scenarios, rules and tables that are given as YAML or JSON. Actions load this when they need it, since the parser of YAML is large. */

export { scenarioText } from '../scenario/scenario-text.ts';

/** A document of this shape, as it was written. @throws SettingsError */
function documentOf(
  { name, text }: ReturnType<Texts['read']>,
  schemaOf: (input: unknown) => z.ZodType,
): unknown {
  const read = readText(text);
  const { problems } = checkedShape(read, schemaOf(read.input));
  if (problems.length === 0) return read.input;
  const { shown, more } = reported(problems);
  const lines = shown.map((problem) => problemText(name, problem));
  throw new SettingsError([...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}

export const scenarioIn = (read: ReturnType<Texts['read']>): ScenarioInput =>
  documentOf(read, () => ScenarioDocument) as ScenarioInput;

const ExpectedTable = z.array(ExpectedPayout);

/** A list of the payouts that should end up paid. */
export const expectedIn = (read: ReturnType<Texts['read']>): z.input<typeof ExpectedTable> =>
  documentOf(read, () => ExpectedTable) as z.input<typeof ExpectedTable>;

const RuleList = z.array(RuleRequest).min(1);
const NamedList = z.strictObject({ description: z.string().optional(), rules: RuleList });

const hasRules = (input: unknown): input is z.input<typeof NamedList> =>
  typeof input === 'object' && input !== null && 'rules' in input;

/** One rule, a list of them, or a list as a scenario has it. @returns the rules in the order of the text */
export function rulesIn(read: ReturnType<Texts['read']>): readonly RuleRequest[] {
  const input = documentOf(read, (shape) =>
    Array.isArray(shape) ? RuleList : hasRules(shape) ? NamedList : RuleRequest,
  );
  const rules = hasRules(input) ? input.rules : input;
  return (Array.isArray(rules) ? rules : [rules]) as readonly RuleRequest[];
}

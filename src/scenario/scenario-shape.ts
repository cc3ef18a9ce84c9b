import { z } from 'zod';
import { DialectFile } from '../contract/dialect.ts';
import { MAX_ITEMS, OutcomeDocument, RuleDocument, ScenarioDocument } from '../contract/scenario-document.ts';
import { MAX_REPORTED, parseShape, READ_ONCE, type Issue } from '../contract/shape-issues.ts';

/** A schema that accepts documents with errors, leaving out their wrong optional parts. */
function lenient(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) {
    const part = lenient(schema.unwrap() as z.ZodType);
    return part.optional().catch(undefined);
  }
  if (schema instanceof z.ZodUnion)
    return z.union((schema.options as readonly z.ZodType[]).map((option) => lenient(option)));
  if (!(schema instanceof z.ZodObject)) return schema;
  const parts = Object.entries(schema.shape).map(([key, part]) => [key, lenient(part as z.ZodType)] as const);
  return z.object(Object.fromEntries(parts));
}

/** Reads the valid parts of a wrong value, so that errors beyond its shape are reported too. */
function reader<T>(schema: z.ZodType): (input: unknown) => Partial<T> {
  let made: z.ZodType | undefined;
  return (input) => (made ??= lenient(schema).catch({})).parse(input, READ_ONCE) as Partial<T>;
}

const readRest = reader<ScenarioDocument>(ScenarioDocument.omit({ outcomes: true, rules: true }));
const readOutcome = reader<OutcomeDocument>(OutcomeDocument);
const readPartOfRule = reader<RuleDocument>(RuleDocument.partial());
function readRule(input: unknown): RuleDocument {
  const { effect = {}, ...rule } = readPartOfRule(input);
  return { ...rule, effect };
}

const itemsOf = (list: unknown): readonly unknown[] => (Array.isArray(list) ? list.slice(0, MAX_ITEMS) : []);

/** Whether a document that is not a scenario is a dialect. */
function isDialect(input: unknown): boolean {
  const keys = typeof input === 'object' && input !== null ? Object.keys(input) : [];
  return (
    keys.every((key) => Object.hasOwn(DialectFile.shape, key)) &&
    keys.some((key) => !Object.hasOwn(ScenarioDocument.shape, key))
  );
}

const A_DIALECT: Issue = {
  path: [],
  message: 'is a dialect, not a scenario: use it with --dialect, or as the dialect of a scenario',
  isUnknownKey: false,
};

/** A scenario document as far as it can be read, and what is wrong with its shape. */
export function scenarioShape(input: unknown): {
  readonly document: ScenarioDocument;
  readonly issues: readonly Issue[];
} {
  const { value, issues } = parseShape(ScenarioDocument, input);
  if (value !== undefined) return { document: value, issues: [] };
  if (isDialect(input)) return { document: {}, issues: [A_DIALECT] };
  // no mapping, or too large; or nothing beyond these issues would be reported
  if (issues[0]?.path.length === 0 || issues.length > MAX_REPORTED) return { document: {}, issues };
  const { outcomes, rules } = input as Readonly<Record<string, unknown>>;
  const document = {
    ...readRest(input),
    outcomes: itemsOf(outcomes).map((item) => readOutcome(item)),
    rules: itemsOf(rules).map((item) => readRule(item)),
  };
  return { document, issues };
}

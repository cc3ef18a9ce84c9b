import { z } from 'zod';
import { OutcomeDocument, RuleDocument, ScenarioDocument } from '../contract/scenario-document.ts';
import { MAX_REPORTED, parseShape, READ_ONCE, valuesIn, type Issue } from '../contract/shape-issues.ts';

/** Work in steps: at each yield, its runner may let other work have its turn. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps at once. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** A list of a scenario has at most this many items. A longer one is refused before it is looked at. */
const MAX_ITEMS = 5000;
/** How many values are checked in one step: some milliseconds of work. */
const VALUES_AT_ONCE = 500;

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

const readDocument = reader<ScenarioDocument>(ScenarioDocument);
const readOutcome = reader<OutcomeDocument>(OutcomeDocument);
const readRule = reader<RuleDocument>(RuleDocument.partial());

/** The lists of a scenario, which may be long: the schema of one item in a list, and a reader for wrong items. */
const LISTS = {
  outcomes: { items: z.array(OutcomeDocument), readable: readOutcome },
  rules: {
    items: z.array(RuleDocument),
    readable: (input: unknown, index: number): RuleDocument => {
      const rule = readRule(input);
      return { ...rule, name: rule.name ?? `unreadable-${index}`, effect: rule.effect ?? {} };
    },
  },
} as const;
const LIST_NAMES = Object.keys(LISTS) as (keyof typeof LISTS)[];

/** A scenario document as far as it can be read, and what is wrong with its shape. */
interface ScenarioShape {
  readonly document: ScenarioDocument;
  readonly issues: readonly Issue[];
}

/** Checks the shape of a scenario document: first everything but its lists, then those item by item. */
export function* scenarioShape(input: unknown): Steps<ScenarioShape> {
  const given = (input ?? {}) as Readonly<Record<string, unknown>>;
  const lists = LIST_NAMES.filter((name) => Array.isArray(given[name]));
  for (const name of lists) {
    if ((given[name] as readonly unknown[]).length <= MAX_ITEMS) continue;
    const tooMany = { path: [name], message: `must be at most ${MAX_ITEMS} ${name}`, isUnknownKey: false };
    return { document: {}, issues: [tooMany] };
  }
  const entries = Object.entries(given).filter(([name]) => !lists.some((list) => list === name));
  const rest: unknown = lists.length === 0 ? input : Object.fromEntries(entries);
  const { value = readDocument(rest), issues: ofRest = [] } = parseShape(ScenarioDocument, rest, READ_ONCE);
  const issues = [...ofRest];
  const read: Partial<Record<keyof typeof LISTS, unknown[]>> = {};
  let values = 0;
  for (const name of lists) {
    const { items, readable } = LISTS[name];
    const list: unknown[] = (read[name] = []);
    for (const [index, item] of (given[name] as readonly unknown[]).entries()) {
      values += 1 + valuesIn(item);
      if (values > VALUES_AT_ONCE) {
        yield;
        values = 0;
      }
      // in a list, since the messages for an item differ from those for a whole document
      const { value: right, issues: wrong = [] } = parseShape<z.ZodType<readonly unknown[]>>(
        items,
        [item],
        READ_ONCE,
      );
      for (const issue of wrong) issues.push({ ...issue, path: [name, index, ...issue.path.slice(1)] });
      if (right !== undefined) list.push(right[0]);
      else if (issues.length <= MAX_REPORTED) list.push(readable(item, index));
    }
  }
  return { document: { ...value, ...(read as ScenarioDocument) }, issues };
}

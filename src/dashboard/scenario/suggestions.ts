import type { CompletionResult } from '@codemirror/autocomplete';
import { placeAt } from './yaml-place.ts';

/** The part of a JSON Schema that completion reads. */
export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

const DEFS = '#/$defs/';

/** A schema and every schema that it refers to or chooses from. */
function variantsOf(schema: Schema, root: Schema): readonly Schema[] {
  const { $ref, anyOf = [], oneOf = [], allOf = [] } = schema;
  const named = $ref?.startsWith(DEFS) === true ? root.$defs?.[$ref.slice(DEFS.length)] : undefined;
  const parts = [...(named === undefined ? [] : [named]), ...anyOf, ...oneOf, ...allOf];
  return [schema, ...parts.flatMap((part) => variantsOf(part, root))];
}

function stepInto({ properties, additionalProperties, items }: Schema, part: string | 0): readonly Schema[] {
  if (part === 0) return items === undefined ? [] : [items];
  const own = properties !== undefined && Object.hasOwn(properties, part) ? properties[part] : undefined;
  if (own !== undefined) return [own];
  return typeof additionalProperties === 'object' ? [additionalProperties] : [];
}

/** All schemas for the value at a path. */
const schemasAt = (root: Schema, path: readonly (string | 0)[]): readonly Schema[] =>
  path.reduce<readonly Schema[]>(
    (schemas, part) =>
      schemas.flatMap((schema) => stepInto(schema, part)).flatMap((next) => variantsOf(next, root)),
    variantsOf(root, root),
  );

const noteOf = (schema: Schema, root: Schema): string =>
  variantsOf(schema, root).find(({ description }) => description !== undefined)?.description ?? '';

const valuesOf = (schema: Schema): readonly unknown[] =>
  schema.type === 'boolean'
    ? [true, false]
    : [...(schema.enum ?? (schema.const === undefined ? [] : [schema.const])), ...(schema.examples ?? [])];

/**
 * What can be written at the cursor, by the schema: the keys of a mapping that it does not have yet, or the values of a field.
 *
 * @returns null if there is nothing to choose from
 */
export function completionAt(text: string, offset: number, root: Schema): CompletionResult | null {
  const { path, siblings, word, isValue } = placeAt(text, offset);
  const schemas = schemasAt(root, path);
  const keys = schemas
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([name]) => !isValue && !siblings.has(name))
    .map(([name, schema]) => ({ label: name, apply: `${name}: `, detail: noteOf(schema, root) }));
  const values = schemas
    .flatMap(valuesOf)
    .filter((value) => typeof value !== 'object')
    .map((value) => ({ label: String(value) }));
  const byLabel = new Map([...keys, ...values].toReversed().map((option) => [option.label, option]));
  const typed = word.toLowerCase();
  const options = [...byLabel.values()]
    .toReversed()
    .filter(({ label }) => label.toLowerCase().startsWith(typed) && label !== word);
  return options.length === 0 ? null : { from: offset - word.length, options };
}

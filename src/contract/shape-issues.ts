import { z } from 'zod';
import { complaint } from './field-errors.ts';

/** A place in a value: `['rules', 0, 'name']`. */
export type Path = readonly PropertyKey[];

/** One thing that is wrong with the shape of a value. */
interface Issue {
  readonly path: Path;
  readonly message: string;
  /** The key that is not known at `path`. */
  readonly key?: string;
}

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

const NO_MAPPING = 'must be a mapping: keys, each with its value';
const NO_TEXT = 'must be a text: write it in quotes, or it is a number';
const OUR_WORDS = /^must /;

export const pathText = (path: Path): string =>
  path
    .map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`))
    .join('');

/** Every way in which a schema can be read at a path: more than one where it offers a choice. */
function schemasAt(root: JsonSchema, path: Path): readonly JsonSchema[] {
  const open = (schema: JsonSchema): readonly JsonSchema[] => {
    if (schema.$ref !== undefined) return open(root.$defs?.[schema.$ref.split('/').at(-1)!] ?? {});
    return [schema, ...(schema.anyOf ?? []).flatMap(open)];
  };
  return path.reduce<readonly JsonSchema[]>(
    (schemas, key) =>
      schemas.flatMap(({ properties, additionalProperties, items }) =>
        typeof key === 'number'
          ? open(items ?? {})
          : open(
              properties?.[String(key)] ??
                (typeof additionalProperties === 'object' ? additionalProperties : {}),
            ),
      ),
    open(root),
  );
}

/** Names what is near to a misspelt word: ` (did you mean amount?)`, or nothing. */
export type Suggest = (word: string, known: readonly string[]) => string;

/** What is wrong, without zod's choice of words: the branch of a choice that was meant, and keys one by one. */
export function shapeIssues(
  error: z.core.$ZodError,
  input: unknown,
  schema: z.ZodType,
  suggestion: Suggest,
): readonly Issue[] {
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const valueAt = (path: Path): unknown =>
    path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], input);

  const expand = (issue: z.core.$ZodIssue, prefix: Path): readonly Issue[] => {
    const path = [...prefix, ...issue.path];
    const value = valueAt(path);
    if (issue.code === 'unrecognized_keys') {
      const known = schemasAt(root, path).flatMap(({ properties }) => Object.keys(properties ?? {}));
      return issue.keys.map((key) => {
        const hint = suggestion(key, known);
        const message = `is not known here${hint || (known.length > 0 ? `: known are ${known.join(', ')}` : '')}`;
        return { path, key, message };
      });
    }
    if (issue.code === 'invalid_union' && OUR_WORDS.test(issue.message))
      return [{ path, message: issue.message }];
    if (issue.code === 'invalid_union') {
      const meant = issue.errors.find((branch) =>
        branch.every(
          ({ code, path: at }) => at.length > 0 || code === 'unrecognized_keys' || code === 'custom',
        ),
      );
      if (meant !== undefined && meant.length > 0) return meant.flatMap((inner) => expand(inner, path));
      const wantsText = issue.errors
        .flat()
        .some((inner) => inner.code === 'invalid_type' && inner.expected === 'string');
      if (wantsText && typeof value === 'number') return [{ path, message: NO_TEXT }];
      const ours = issue.errors
        .flat()
        .find((inner) => inner.code === 'invalid_format' && OUR_WORDS.test(inner.message));
      if (ours !== undefined) return [{ path, message: ours.message }];
      const words = issue.errors
        .flat()
        .flatMap((inner) => (inner.code === 'invalid_value' ? inner.values.map(String) : []));
      if (typeof value === 'string' && words.length > 0) {
        return [{ path, message: `must be one of ${words.join(', ')}${suggestion(value, words)}` }];
      }
      const { description } = schemasAt(root, path).find((schema) => schema.description !== undefined) ?? {};
      return [{ path, message: `does not fit${description === undefined ? '' : `: ${description}`}` }];
    }
    if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? issue.message }];
    if (path.length === 0 && issue.code === 'invalid_type') return [{ path, message: NO_MAPPING }];
    const wantsText = issue.code === 'invalid_type' && issue.expected === 'string';
    if (wantsText && typeof value === 'number' && !OUR_WORDS.test(issue.message))
      return [{ path, message: NO_TEXT }];
    const hint =
      issue.code === 'invalid_value' && typeof value === 'string'
        ? suggestion(value, issue.values.map(String))
        : '';
    return [{ path, message: complaint(issue, value) + hint }];
  };
  const issues = error.issues.flatMap((issue) => expand(issue, []));
  const misspelt = new Set(issues.filter(({ key }) => key !== undefined).map(({ path }) => pathText(path)));
  // what a misspelt key leaves undone is not another error
  return issues.filter(({ key, path }) => key !== undefined || !misspelt.has(pathText(path)));
}

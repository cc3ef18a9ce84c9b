import { z } from 'zod';
import { complaint } from './field-errors.ts';
import { suggestion } from './suggestion.ts';

/** A place in a value: `['rules', 0, 'name']`. */
export type Path = readonly PropertyKey[];

/** At most this many problems of one document are reported; the others are counted. */
const MAX_REPORTED = 50;

/**
 * The problems to report, and how many more there are.
 *
 * @param unread how many more there are beside the given ones
 */
export const reported = <T>(
  problems: readonly T[],
  unread = 0,
): { readonly shown: readonly T[]; readonly more: number } => ({
  shown: problems.slice(0, MAX_REPORTED),
  more: Math.max(0, problems.length - MAX_REPORTED) + unread,
});

/** At most this many problems are put in order before the first of them are reported. */
const MAX_ORDERED = 1000;

/** One thing that is wrong with the shape of a value. */
export interface Issue {
  readonly path: Path;
  /** Composed only for the problems that are reported, since a suggestion compares a key with all known ones. */
  readonly message: () => string;
  /** The unknown key at `path`. */
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

const LONGEST_KEY = 100;

/** A key of a document as a message shows it: a key that is as long as the document is cut. */
const keyText = (key: string): string => (key.length <= LONGEST_KEY ? key : `${key.slice(0, LONGEST_KEY)}…`);

export const pathText = (path: Path): string =>
  path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${keyText(String(key))}`,
    )
    .join('');

/** The schemas that may apply at a path: more than one where a union offers a choice. */
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

/**
 * Explains what is wrong with a value in our own words: the branch of a union that was meant, and unknown keys one by one.
 *
 * @returns the first issues, in the order of the schema, and how many more there are
 */
export function shapeIssues(
  error: z.core.$ZodError,
  input: unknown,
  schema: z.ZodType,
): { readonly issues: readonly Issue[]; readonly more: number } {
  let root: JsonSchema | undefined;
  const schemas = (path: Path): readonly JsonSchema[] =>
    schemasAt((root ??= z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema), path);
  const valueAt = (path: Path): unknown =>
    path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], input);

  const unknownKeyMessage = (key: string, path: Path): string => {
    const known = schemas(path).flatMap(({ properties }) => Object.keys(properties ?? {}));
    const hint = suggestion(key, known);
    return `is not known here${hint || (known.length > 0 ? `: known are ${known.join(', ')}` : '')}`;
  };

  const unionMessage = (issue: z.core.$ZodIssueInvalidUnion, path: Path): string => {
    const value = valueAt(path);
    const inner = issue.errors.flat();
    const wantsText = inner.some((one) => one.code === 'invalid_type' && one.expected === 'string');
    if (wantsText && typeof value === 'number') return NO_TEXT;
    const ours = inner.find((one) => one.code === 'invalid_format' && OUR_WORDS.test(one.message));
    if (ours !== undefined) return ours.message;
    const words = inner.flatMap((one) => (one.code === 'invalid_value' ? one.values.map(String) : []));
    if (typeof value === 'string' && words.length > 0)
      return `must be one of ${words.join(', ')}${suggestion(value, words)}`;
    const description = schemas(path).find((one) => one.description !== undefined)?.description;
    return `does not fit${description === undefined ? '' : `: ${description}`}`;
  };

  const messageOf = (issue: z.core.$ZodIssue, path: Path): string => {
    if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
    if (path.length === 0 && issue.code === 'invalid_type') return NO_MAPPING;
    const value = valueAt(path);
    const wantsText = issue.code === 'invalid_type' && issue.expected === 'string';
    if (wantsText && typeof value === 'number' && !OUR_WORDS.test(issue.message)) return NO_TEXT;
    const hint =
      issue.code === 'invalid_value' && typeof value === 'string'
        ? suggestion(value, issue.values.map(String))
        : '';
    return complaint(issue, value) + hint;
  };

  function* expand(found: readonly z.core.$ZodIssue[], prefix: Path): Generator<Issue> {
    for (const issue of found) {
      const path = [...prefix, ...issue.path];
      if (issue.code === 'unrecognized_keys') {
        for (const key of issue.keys) yield { path, key, message: () => unknownKeyMessage(key, path) };
      } else if (issue.code !== 'invalid_union') {
        yield { path, message: () => messageOf(issue, path) };
      } else if (OUR_WORDS.test(issue.message)) {
        yield { path, message: () => issue.message };
      } else {
        const meant = issue.errors.find((branch) =>
          branch.every(
            ({ code, path: at }) => at.length > 0 || code === 'unrecognized_keys' || code === 'custom',
          ),
        );
        if (meant !== undefined && meant.length > 0) yield* expand(meant, path);
        else yield { path, message: () => unionMessage(issue, path) };
      }
    }
  }

  const issues: Issue[] = [];
  let more = 0;
  for (const issue of expand(error.issues, [])) {
    if (issues.length < MAX_ORDERED) issues.push(issue);
    else more += 1;
  }
  const misspelt = new Set(issues.filter(({ key }) => key !== undefined).map(({ path }) => pathText(path)));
  // a misspelt key is reported once: what is missing because of it is not another problem
  const own = issues.filter(({ key, path }) => key !== undefined || !misspelt.has(pathText(path)));
  return { issues: own, more };
}

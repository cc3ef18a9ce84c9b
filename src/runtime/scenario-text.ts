import type { Document, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { complaint } from '../contract/field-errors.ts';
import { lazyPackage } from '../lazy-packages.ts';
import { suggestion } from './suggestion.ts';

/** One thing that is wrong in a file, and where. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  /** `rules[0].match.amount`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

type Path = readonly PropertyKey[];
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
const NO_TEXT = 'must be a text: write it in quotes, or YAML takes it for a number';
const OUR_WORDS = /^must /;

const pathText = (path: Path): string =>
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

/** What is wrong, without zod's choice of words: the branch of a choice that was meant, and keys one by one. */
function issuesOf(error: z.core.$ZodError, input: unknown, root: JsonSchema): readonly Issue[] {
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

/** Where the value at a path begins, or that of the nearest path above it that there is. */
function offsetOf(document: Document, path: Path, key?: string): number {
  const { isMap, isScalar } = lazyPackage('yaml');
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    if (key !== undefined && depth === path.length && isMap(node)) {
      const pair = node.items.find(({ key: name }) => isScalar(name) && String(name.value) === key);
      if (pair !== undefined && isScalar(pair.key) && pair.key.range) return pair.key.range[0];
    }
    const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
    if (range) return range[0]!;
  }
  return 0;
}

/** A text that was read, and all that is wrong with it. */
export interface TextRead<T> {
  /** What it says; null when its shape is wrong. */
  readonly value: T | null;
  /** What stands in it, whatever its shape. */
  readonly input: unknown;
  readonly problems: readonly Problem[];
  /** Places what else is wrong with it. */
  readonly problemAt: (path: Path, message: string) => Problem;
}

/** zod makes code for a shape at its first use, which pays for requests, and not for files. */
const READ_ONCE = { jitless: true };

/** What stands in a text that is just as `JSON.stringify` writes it; undefined for every other. */
function plainJson(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    const input: unknown = JSON.parse(text);
    return JSON.stringify(input, null, 2) === text.trimEnd() ? input : undefined; // else a key may be there twice
  } catch {
    return undefined;
  }
}

/**
 * Reads YAML or JSON, and holds it against a schema. Every problem is found at once. The YAML parser, which knows the
 * places of problems, is only loaded for YAML and for what is wrong: the rules and dialects read at each start are JSON.
 */
export function readText<T extends z.ZodType>(text: string, schema: T): TextRead<z.output<T>> {
  const input = plainJson(text);
  const read = input === undefined ? undefined : schema.safeParse(input, READ_ONCE);
  if (!read?.success) return readYaml(text, schema);
  const problemAt: TextRead<unknown>['problemAt'] = (path, message) =>
    readYaml(text, schema).problemAt(path, message);
  return { value: read.data, input, problems: [], problemAt };
}

function readYaml<T extends z.ZodType>(text: string, schema: T): TextRead<z.output<T>> {
  const { LineCounter, parseDocument } = lazyPackage('yaml');
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placed = (offset: number, path: string, message: string): Problem => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1), path, message };
  };
  const problemAt = (path: Path, message: string, key?: string): Problem =>
    placed(offsetOf(document, path, key), pathText(key === undefined ? path : [...path, key]), message);
  const unreadable = (problems: readonly Problem[]) => ({ value: null, input: null, problems, problemAt });
  if (document.errors.length > 0) {
    const messageOf = ({ code, message }: YAMLParseError): string =>
      code === 'MULTIPLE_DOCS' ? 'must be one document: here a second one begins' : message;
    return unreadable(document.errors.map((error) => placed(error.pos[0], '', messageOf(error))));
  }
  let input: unknown;
  try {
    input = document.toJS({ maxAliasCount: 100 }) ?? {};
  } catch (error) {
    return unreadable([placed(0, '', (error as Error).message)]);
  }
  const result = schema.safeParse(input, READ_ONCE);
  if (result.success) return { value: result.data, input, problems: [], problemAt };
  const root = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
  const problems = issuesOf(result.error, input, root).map(({ path, message, key }) =>
    problemAt(path, message, key),
  );
  return { value: null, input, problems, problemAt };
}

/** `my.yaml:3:5 rules[0].name must be …` */
export const problemText = (file: string, { line, column, path, message }: Problem): string =>
  `${file}:${line}:${column} ${path === '' ? '' : `${path} `}${message}`;

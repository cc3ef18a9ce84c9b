import { isMap, isScalar, LineCounter, parseDocument, type Document, type YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { pathText, shapeIssues, type Path } from '../contract/shape-issues.ts';
import { suggestion } from '../contract/suggestion.ts';

/** One thing that is wrong in a file, and where. Lines and columns count from 1. */
export interface Problem {
  readonly line: number;
  readonly column: number;
  /** `rules[0].match.amount`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** Where the value at a path begins, or that of the nearest path above it that there is. */
function offsetOf(document: Document, path: Path, key?: string): number {
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

/**
 * Checks a JSON value against a schema. What is wrong with it is placed in its text, as `JSON.stringify` indents it by two: so the
 * text is only made when something is wrong.
 */
export function readValue<T extends z.ZodType>(input: unknown, schema: T): TextRead<z.output<T>> {
  const result = schema.safeParse(input, READ_ONCE);
  let text: TextRead<z.output<T>> | undefined;
  const asText = () => (text ??= readText(JSON.stringify(input, null, 2), schema));
  if (!result.success) return asText();
  const problemAt: TextRead<unknown>['problemAt'] = (path, message) => asText().problemAt(path, message);
  return { value: result.data, input, problems: [], problemAt };
}

/** Reads YAML or JSON, and checks it against a schema. Every problem is found at once. */
export function readText<T extends z.ZodType>(text: string, schema: T): TextRead<z.output<T>> {
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
  const problems = shapeIssues(result.error, input, schema, suggestion).map(({ path, message, key }) =>
    problemAt(path, message, key),
  );
  return { value: null, input, problems, problemAt };
}

/** `my.yaml:3:5 rules[0].name must be …` */
export const problemText = (file: string, { line, column, path, message }: Problem): string =>
  `${file}:${line}:${column} ${path === '' ? '' : `${path} `}${message}`;

import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Pair,
  type YAMLParseError,
} from 'yaml';
import type { z } from 'zod';
import { parseShape, pathText, type Path } from '../contract/shape-issues.ts';

/** One thing that is wrong in a scenario, and where. */
export interface Problem {
  /** In the text of a file, both from 1; null for a document that has no text. */
  readonly place: { readonly line: number; readonly column: number } | null;
  /** `rules[0].match.amount`; empty for the document as a whole. */
  readonly path: string;
  readonly message: string;
}

/** What was read, and all that is wrong with it. */
export interface TextRead<T> {
  /** The document; null when its shape is wrong. */
  readonly value: T | null;
  /** The document as it was written, whatever its shape. */
  readonly input: unknown;
  readonly problems: readonly Problem[];
  /** Makes a problem of what else is wrong with the document. */
  readonly problemAt: (path: Path, message: string) => Problem;
}

/** zod compiles a schema at its first use. That pays for requests, but not for files. */
export const READ_ONCE = { jitless: true };

/** A scenario can have this many rules, and as many outcomes. A longer list is refused before it is looked at. */
const MAX_RULES = 5000;

type PlaceOf = (path: Path, isKey?: boolean) => Problem['place'];

function checkShape<T extends z.ZodType>(input: unknown, schema: T, placeOf: PlaceOf): TextRead<z.output<T>> {
  const problemAt = (path: Path, message: string, isKey = false): Problem => ({
    place: placeOf(path, isKey),
    path: pathText(path),
    message,
  });
  for (const name of ['rules', 'outcomes'] as const) {
    const list = (input as Partial<Record<typeof name, unknown>> | null)?.[name];
    if (!Array.isArray(list) || list.length <= MAX_RULES) continue;
    const problems = [problemAt([name], `must be at most ${MAX_RULES} ${name}`)];
    return { value: null, input: null, problems, problemAt };
  }
  const { value = null, issues = [] } = parseShape(schema, input, READ_ONCE);
  const problems = issues.map(({ path, message, isUnknownKey }) => problemAt(path, message, isUnknownKey));
  return { value, input, problems, problemAt };
}

/** Checks a document that was not read from a text: its problems have a path and no line. */
export const readValue = <T extends z.ZodType>(input: unknown, schema: T): TextRead<z.output<T>> =>
  checkShape(input, schema, () => null);

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/**
 * Finds the entries of each mapping by their keys, so that placing a problem takes as many steps as its path is long, and the
 * offsets of keys that their mapping already has: the parser would compare each key with all the others.
 */
function entriesOf(document: Document) {
  const entries = new Map<unknown, Map<string, Pair>>();
  const repeated: number[] = [];
  visit(document, {
    Map: (_key, map) => {
      const byKey = new Map<string, Pair>();
      for (const pair of map.items) {
        if (!isScalar(pair.key)) continue;
        const key = String(pair.key.value);
        if (byKey.has(key)) repeated.push(offsetOf(pair.key) ?? 0);
        byKey.set(key, pair);
      }
      entries.set(map, byKey);
    },
  });
  return { entries, repeated };
}

/** Reads YAML or JSON and checks it against a schema. Every problem is found at once. */
export function readText<T extends z.ZodType>(text: string, schema: T): TextRead<z.output<T>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const { entries, repeated } = entriesOf(document);
  const placeAt = (offset: number): Problem['place'] => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  // where the value at a path begins, or its key, or the nearest value above it that there is
  const placeOf: PlaceOf = (path, isKey = false) => {
    let node: unknown = document.contents;
    let offset = offsetOf(node) ?? 0;
    for (const [nth, part] of path.entries()) {
      const entry = isMap(node) ? entries.get(node)?.get(String(part)) : undefined;
      node = isSeq(node) ? node.items[Number(part)] : entry?.value;
      const isLastKey = isKey && nth === path.length - 1;
      const next = offsetOf(isLastKey ? entry?.key : node);
      if (next === undefined) break;
      offset = next;
    }
    return placeAt(offset);
  };
  const unreadable = (errors: readonly (readonly [offset: number, message: string])[]) => ({
    value: null,
    input: null,
    problems: errors.map(([offset, message]) => ({ place: placeAt(offset), path: '', message })),
    problemAt: (path: Path, message: string) => ({ place: placeOf(path), path: '', message }),
  });
  const messageOf = ({ code, message }: YAMLParseError): string =>
    code === 'MULTIPLE_DOCS' ? 'must be one document: here a second one begins' : message;
  if (document.errors.length > 0)
    return unreadable(document.errors.map((error) => [error.pos[0], messageOf(error)]));
  if (repeated.length > 0) return unreadable(repeated.map((offset) => [offset, 'Map keys must be unique']));
  try {
    return checkShape(document.toJS({ maxAliasCount: 100 }) ?? {}, schema, placeOf);
  } catch (error) {
    return unreadable([[0, (error as Error).message]]);
  }
}

/** `my.yaml:3:5 rules[0].name must be …` */
export const problemText = (file: string, { place, path, message }: Problem): string =>
  `${file}${place === null ? '' : `:${place.line}:${place.column}`} ${path === '' ? '' : `${path} `}${message}`;

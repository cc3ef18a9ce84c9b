import { LineCounter, parseDocument, type YAMLParseError } from 'yaml';
import type { z } from 'zod';
import { pathText, shapeIssues, type Path } from '../contract/shape-issues.ts';
import { YamlPlaces } from './yaml-places.ts';

/** One thing that is wrong in a scenario, and where. */
export interface Problem {
  /** In the text of a file, both from 1; null for a document that has no text. */
  readonly place: { readonly line: number; readonly column: number } | null;
  /** `rules[0].match.amount`; empty for the document as a whole. */
  readonly path: string;
  /** Composed only for the problems that are reported. */
  readonly message: () => string;
}

/** What was read, and all that is wrong with it. */
export interface TextRead<T> {
  /** The document; null when its shape is wrong. */
  readonly value: T | null;
  /** The document as it was written, whatever its shape. */
  readonly input: unknown;
  readonly problems: readonly Problem[];
  /** How many more problems there are. */
  readonly more: number;
  /** Makes a problem of what else is wrong with the document. */
  readonly problemAt: (path: Path, message: string) => Problem;
}

/** zod compiles a schema at its first use. That pays for requests, but not for files. */
const READ_ONCE = { jitless: true };

/** A scenario can have this many rules. A longer list is refused before its rules are looked at. */
const MAX_RULES = 5000;

type PlaceOf = (path: Path, key?: string) => Problem['place'];

function checkShape<T extends z.ZodType>(input: unknown, schema: T, placeOf: PlaceOf): TextRead<z.output<T>> {
  const problemAt = (path: Path, message: string): Problem => ({
    place: placeOf(path),
    path: pathText(path),
    message: () => message,
  });
  const rules = (input as { readonly rules?: unknown } | null)?.rules;
  if (Array.isArray(rules) && rules.length > MAX_RULES) {
    const problems = [problemAt(['rules'], `must be at most ${MAX_RULES} rules`)];
    return { value: null, input: null, problems, more: 0, problemAt };
  }
  const result = schema.safeParse(input, READ_ONCE);
  if (result.success) return { value: result.data, input, problems: [], more: 0, problemAt };
  const { issues, more } = shapeIssues(result.error, input, schema);
  const problems = issues.map(({ path, key, message }) => ({
    place: placeOf(path, key),
    path: pathText(key === undefined ? path : [...path, key]),
    message,
  }));
  return { value: null, input, problems, more, problemAt };
}

/** Checks a document that was not read from a text: its problems have a path and no line. */
export const readValue = <T extends z.ZodType>(input: unknown, schema: T): TextRead<z.output<T>> =>
  checkShape(input, schema, () => null);

/** Reads YAML or JSON and checks it against a schema. Every problem is found at once. */
export function readText<T extends z.ZodType>(text: string, schema: T): TextRead<z.output<T>> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const places = new YamlPlaces(document);
  const placeAt = (offset: number): Problem['place'] => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const placeOf: PlaceOf = (path, key) => placeAt(places.offset(path, key));
  const unreadable = (errors: readonly (readonly [offset: number, message: string])[]) => ({
    value: null,
    input: null,
    problems: errors.map(([offset, message]) => ({
      place: placeAt(offset),
      path: '',
      message: () => message,
    })),
    more: 0,
    problemAt: (path: Path, message: string) => ({ place: placeOf(path), path: '', message: () => message }),
  });
  const messageOf = ({ code, message }: YAMLParseError): string =>
    code === 'MULTIPLE_DOCS' ? 'must be one document: here a second one begins' : message;
  if (document.errors.length > 0) {
    return unreadable(document.errors.map((error) => [error.pos[0], messageOf(error)]));
  }
  const repeated = places.repeatedKeys();
  if (repeated.length > 0) return unreadable(repeated.map((offset) => [offset, 'Map keys must be unique']));
  try {
    return checkShape(document.toJS({ maxAliasCount: 100 }) ?? {}, schema, placeOf);
  } catch (error) {
    return unreadable([[0, (error as Error).message]]);
  }
}

/** `my.yaml:3:5 rules[0].name must be …` */
export const problemText = (file: string, { place, path, message }: Problem): string =>
  `${file}${place === null ? '' : `:${place.line}:${place.column}`} ${path === '' ? '' : `${path} `}${message()}`;

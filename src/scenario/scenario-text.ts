import {
  type Alias,
  Composer,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  stringify,
  visit,
  type CST,
  type Document,
  type Pair,
  type ParsedNode,
  type YAMLParseError,
} from 'yaml';
import type { z } from 'zod';
import type { ScenarioInput } from '../contract/control.ts';
import { isTooNested, MAX_NESTING, TOO_NESTED } from '../contract/service.ts';
import { NO_COMMAS, parseShape, pathText, type Path } from '../contract/shape-issues.ts';

export interface Problem {
  /** In the text of a file, both from 1; null for a document that has no text. */
  readonly place: { readonly line: number; readonly column: number } | null;
  /** `rules[0].match.amount`; empty for the document as a whole. */
  readonly path: string;
  readonly message: string;
}

export interface TextRead {
  readonly input: unknown;
  /** Why the text is not a document at all; empty when it is one. */
  readonly problems: readonly Problem[];
  /** Makes a problem of the document from a path and a message. @param isKey whether the last part of the path is a wrong key */
  readonly problemAt: (path: Path, message: string, isKey?: boolean) => Problem;
}

type PlaceOf = (path: Path, isKey?: boolean) => Problem['place'];

const readResult = (input: unknown, placeOf: PlaceOf): TextRead => ({
  input,
  problems: [],
  problemAt: (path, message, isKey = false) => ({
    place: placeOf(path, isKey),
    path: pathText(path),
    message,
  }),
});

/** Checks a document against a schema. @returns its value or null, and all of its problems */
export function checkedShape<T extends z.ZodType>(
  { input, problems, problemAt }: TextRead,
  schema: T,
): { readonly value: z.output<T> | null; readonly problems: readonly Problem[] } {
  if (problems.length > 0) return { value: null, problems };
  const { value = null, issues = [] } = parseShape(schema, input);
  return {
    value,
    problems: issues.map(({ path, message, isUnknownKey }) => problemAt(path, message, isUnknownKey)),
  };
}

/** A document that was not read from a text: its problems have a path and no line. */
export const readValue = (input: unknown): TextRead => readResult(input, () => null);

const offsetOf = (node: unknown): number | undefined => (isNode(node) ? node.range?.[0] : undefined);

/** One thing that makes a text unreadable, and the offset where it is. */
type Fault = readonly [offset: number, message: string];

/** What is wrong with an alias. @param target the value with its anchor, if that comes before it */
function aliasFault({ source, range }: Alias.Parsed, target: ParsedNode | undefined): string | null {
  if (target === undefined)
    return `*${source} refers to nothing: no &${source} comes before it. A text that begins with * must be in quotes`;
  return range[0] < target.range[1] ? `*${source} refers to a value that it is part of` : null;
}

const NO_KEY = 'a key must be a text. A text that begins with { or [ must be in quotes';

/** { opening_balance: 1,00,000 } has the key 0 twice. */
const twiceText = (key: unknown): string =>
  `Map keys must be unique${typeof key === 'number' ? NO_COMMAS : ''}`;

/**
 * Indexes the entries of each mapping by key, so that placing a problem takes one step for each part of its path. Also checks
 * aliases and keys. The parser's own check of duplicates is off, since it compares each key with all others.
 */
function entriesOf(document: Document) {
  const entries = new Map<unknown, Map<string, Pair>>();
  const anchors = new Map<string, ParsedNode>();
  const faults: Fault[] = [];
  visit(document, {
    Value: (_key, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node as ParsedNode);
      if (!isMap(node)) return;
      const byKey = new Map<string, Pair>();
      for (const pair of node.items) {
        if (isCollection(pair.key)) faults.push([offsetOf(pair.key) ?? 0, NO_KEY]);
        if (!isScalar(pair.key)) continue;
        const key = String(pair.key.value);
        if (byKey.has(key)) faults.push([offsetOf(pair.key) ?? 0, twiceText(pair.key.value)]);
        byKey.set(key, pair);
      }
      entries.set(node, byKey);
    },
    Alias: (_key, node) => {
      const message = aliasFault(node as Alias.Parsed, anchors.get(node.source));
      if (message !== null) faults.push([offsetOf(node) ?? 0, message]);
    },
  });
  return { entries, faults };
}

const SECOND_DOCUMENT = 'must be one document: here a second one begins';

/** The offset of a value that is nested too deep, if there is one: composing it would overflow the stack. */
function tooNestedAt(tokens: readonly CST.Token[]): number | undefined {
  let level = tokens.flatMap((token) => (token.type === 'document' && token.value) || []);
  for (let depth = 0; depth < MAX_NESTING; depth += 1) {
    const items = level.flatMap((token) => ('items' in token ? token.items : []));
    level = items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
  }
  return level.find((token) => 'items' in token)?.offset;
}

/** The first two documents of a text, if there are two. Thousands of errors in it take 0.4 s unless they have no stack traces. */
function firstDocuments(tokens: readonly CST.Token[], text: string, lineCounter: LineCounter) {
  const composer = new Composer({ lineCounter, prettyErrors: false, uniqueKeys: false, merge: true });
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const documents: Iterable<Document.Parsed> = composer.compose(tokens, true, text.length);
    const [first, second] = documents as unknown as [Document.Parsed, Document.Parsed?]; // no more of them are composed
    return [first, second] as const;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Rewrites the parser's messages, which are about YAML, for broken JSON. @returns the first error, since the others follow from it */
function jsonFault(text: string, errors: readonly YAMLParseError[]): Fault {
  const [first] = errors.toSorted((a, b) => a.pos[0] - b.pos[0]) as [YAMLParseError];
  const { pos, code, message } = first;
  const [offset] = pos;
  const missing = /end with a (.)$/.exec(message)?.[1];
  const words = (): string => {
    if (missing !== undefined) return `a ${missing} is missing here`;
    if (message.endsWith('quote')) return 'a closing quote is missing';
    if (message.startsWith('Missing ,')) return 'a comma or a colon is missing before this';
    if (code === 'MULTILINE_IMPLICIT_KEY' || code === 'BLOCK_IN_FLOW') return 'a comma is missing after this';
    return code === 'UNEXPECTED_TOKEN' ? `${text[offset]} is not expected here` : message;
  };
  return [offset, `is not valid JSON: ${words()}`];
}

/** Reads YAML or JSON: 64 KiB take some 0.1 s. */
export function readText(text: string): TextRead {
  const lines = new LineCounter();
  const parser = new Parser(lines.addNewLine);
  const tokens = [...parser.parse(text)];
  const placeAt = (offset: number): Problem['place'] => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const unreadable = (unreadableFor: readonly Fault[]): TextRead => ({
    ...readValue(null),
    problems: unreadableFor.map(([offset, message]) => ({ place: placeAt(offset), path: '', message })),
  });
  const deepAt = tooNestedAt(tokens);
  if (deepAt !== undefined) return unreadable([[deepAt, TOO_NESTED]]);
  const [document, second] = firstDocuments(tokens, text, lines);
  const { entries, faults } = entriesOf(document);
  // the beginning of the value at a path, or of its key, or of the nearest existing value above it
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
  const { errors } = document;
  if (errors.length > 0 || second !== undefined) {
    if (/^\s*[[{]/.test(text) && errors.length > 0) return unreadable([jsonFault(text, errors)]);
    const wrong = errors.map(({ pos, message }): Fault => [pos[0], message]);
    const more: Fault[] = second === undefined ? [] : [[second.range[0], SECOND_DOCUMENT]];
    return unreadable([...wrong, ...more]);
  }
  if (faults.length > 0) return unreadable(faults);
  try {
    const input: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
    const isDeep = isTooNested(JSON.stringify(input));
    return isDeep ? unreadable([[0, TOO_NESTED]]) : readResult(input, placeOf);
  } catch (error) {
    return unreadable([[0, (error as Error).message]]);
  }
}

/** `my.yaml:3:5 rules[0].name must be …` */
export const problemText = (file: string, { place, path, message }: Problem): string =>
  `${file}${place === null ? '' : `:${place.line}:${place.column}`} ${path === '' ? '' : `${path} `}${message}`;

/** A scenario as the text of a file. What YAML 1.1 would not read as a text, such as a date or 08:30, is in quotes. */
export const scenarioText = (document: ScenarioInput): string =>
  stringify(document, { lineWidth: 0, compat: 'yaml-1.1' });

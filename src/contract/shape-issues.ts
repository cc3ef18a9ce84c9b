import { z } from 'zod';
import { fieldError, type FieldError } from './errors.ts';
import { suggestion } from './suggestion.ts';
import { counted, listed } from './words.ts';

/** A place in a value: `['rules', 0, 'name']`. */
export type Path = readonly PropertyKey[];

const MAX_REPORTED = 50;

export const reported = <T>(
  problems: readonly T[],
): { readonly shown: readonly T[]; readonly more: number } => ({
  shown: problems.slice(0, MAX_REPORTED),
  more: Math.max(0, problems.length - MAX_REPORTED),
});

export interface Issue {
  readonly path: Path;
  /** The rest of a sentence that begins with the name of the field. */
  readonly message: string;
  /** Whether the last part of `path` is a key that the schema does not know. */
  readonly isUnknownKey: boolean;
}

/** The most values, in lists and objects at any depth, that one shape is parsed with: some ten milliseconds of work. */
const MAX_VALUES = 5000;

/** How many values a value holds, at any depth. Counting stops once there are too many. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const part of (Array.isArray(value) ? value : Object.values(value)) as readonly unknown[]) {
    count += 1 + valuesIn(part);
    if (count > MAX_VALUES) break;
  }
  return count;
}

const LONGEST_KEY = 100;

/** A key as messages show it: cut, since a key may be as long as its document. */
const keyText = (key: string): string => (key.length <= LONGEST_KEY ? key : `${key.slice(0, LONGEST_KEY)}…`);

export const pathText = (path: Path): string =>
  path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${keyText(String(key))}`,
    )
    .join('');

/** @param whole the name of the part of the request, for an error that concerns no single field */
export const inWords = (path: Path, message: string, whole = 'body'): FieldError =>
  fieldError(path.length === 0 ? whole : pathText(path), message);

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a JSON object',
  record: 'a JSON object',
  array: 'a list',
};

const itemsText = (count: number | bigint): string => counted(Number(count), 'item');

/** What is wrong with a value whose schema has no message of its own: the rest of a sentence that begins with its name. */
function fieldMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'number' && typeof issue.input === 'number') return 'is too large a number';
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      if (issue.origin === 'array') return `must have at least ${itemsText(issue.minimum)}`;
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'array') return `must have at most ${itemsText(issue.maximum)}`;
      return `must be at most ${issue.maximum}${issue.origin === 'string' ? ' characters' : ''}`;
    default:
      return undefined;
  }
}

/** A text whose error says what it must be, unless it is missing. @param error the message, or a function that makes it from the input */
export const requiredText = (error: string | ((input: unknown) => string)) =>
  z.string({
    error: ({ input }) =>
      input === undefined ? undefined : typeof error === 'string' ? error : error(input),
  });

/**
 * The errors of a part of a request, one for each field ("beneficiary_ifsc is required"); none if it fits its schema. With these
 * messages, zod takes three times as long.
 *
 * @param whole the name of the part ("body", "query"), for errors that concern no single field
 */
export function fieldErrors(schema: z.ZodType, input: unknown, whole: string): readonly FieldError[] {
  const messages = new Map<string, string>();
  for (const { path, message } of schema.safeParse(input, { error: fieldMessage }).error?.issues ?? []) {
    const field = path.length === 0 ? whole : path.join('.');
    if (!messages.has(field)) messages.set(field, message); // the first error is enough to fix it
  }
  return [...messages].map(([field, message]) => fieldError(field, message));
}

type Fields = Readonly<Record<string, unknown>>;

/** Whether a value has exactly one of these fields. */
export const oneOf =
  (...keys: readonly string[]) =>
  (value: Fields): boolean =>
    keys.filter((key) => value[key] !== undefined).length === 1;

/** Whether a value has any field at all. */
export const hasFields = (value: Fields): boolean =>
  Object.values(value).some((field) => field !== undefined);

/** What is behind the mistake of a number with commas, for the end of a message. */
export const NO_COMMAS = '. A number is written without commas';

/** With commas only between thousands, lakhs and crores: 10,0 may be 10.0. */
const NUMBER_TEXT = /^₹?\s*((?:\d+|\d{1,3}(?:[,_]\d{2,3})*[,_]\d{3})(?:\.\d+)?)(%?)$/;

/** How a number is written that was given as a text: `: write 100000` for `1,00,000`, `: write 0.3` for `30%`. */
function numberHint(input: unknown): string {
  const [, digits, percent] = NUMBER_TEXT.exec(String(input)) ?? [];
  if (digits === undefined || typeof input !== 'string') return '';
  const plain = digits.replaceAll(/[,_]/g, '');
  return percent === '%'
    ? `: write ${Number(plain) / 100}`
    : `: write ${plain}${plain === digits ? ' without quotes' : ''}`;
}

const NO_MAPPING = 'must be a mapping: keys, each with its value';
const NO_TEXT = 'must be a text: write it in quotes, otherwise it is a number';

/** Fields of a rule that are often written inside its effect by mistake. */
const BESIDE_EFFECT: ReadonlySet<string> = new Set(['match', 'skip', 'times', 'probability']);

/** Where a misplaced key belongs: `times` is a field of the rule, `delay` one of its effect. */
function rightPlace(key: string, { path, inst }: z.core.$ZodRawIssue): string {
  if (path?.at(-1) === 'effect' && BESIDE_EFFECT.has(key)) return ': write it beside effect, not inside it';
  const parts = Object.entries((inst as z.ZodObject).shape);
  const part = parts.find(([, schema]) => {
    const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
    return inner instanceof z.ZodObject && Object.hasOwn(inner.shape, key);
  });
  return part === undefined ? '' : `: write it inside ${part[0]}`;
}

function unknownKeyMessage(key: string, known: readonly string[], issue: z.core.$ZodRawIssue): string {
  const hint = suggestion(key, known) || rightPlace(key, issue);
  if (key === 'after_402') return 'was removed: same_body: stored repeats a 402, as any first response';
  if (key === 'sandbox_headers') return 'was removed: the headers of the sandbox are always sent';
  const commas = /^\d+$/.test(key) ? NO_COMMAS : ''; // { amount: 1,500 } has a key 500
  return `is not known here${hint || (known.length > 0 ? ` (known: ${known.join(', ')})` : '')}${commas}`;
}

/** What a value of a schema is called; undefined where a message of its own says it. */
function kindOf(schema: unknown): string | undefined {
  if (schema instanceof z.ZodNumber) return 'a number';
  if (schema instanceof z.ZodString) return 'a text';
  if (schema instanceof z.ZodArray) return 'a list';
  if (schema instanceof z.ZodBoolean) return 'true, false';
  const keys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return keys.length === 0 ? undefined : `a mapping with ${listed(keys, 'or')}`;
}

function unionMessage({ errors, input, inst }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (input === undefined) return 'is required';
  if (input === Infinity || input === -Infinity) return 'is too large a number'; // 1e400
  const inner = errors.flat();
  const wantedText = inner.find((one) => one.code === 'invalid_type' && one.expected === 'string');
  if (wantedText !== undefined && typeof input === 'number')
    return wantedText.message === NO_MAPPING ? NO_TEXT : wantedText.message;
  const words = inner.flatMap((one) => (one.code === 'invalid_value' ? one.values.map(String) : []));
  if (typeof input === 'string' && words.length > 0)
    return `must be one of ${words.join(', ')}${suggestion(input, words)}`;
  const kinds = (inst as z.ZodUnion).options.map(kindOf);
  const hint = kinds.includes('a number') ? numberHint(input) : '';
  if (hint !== '') return `must be a number${hint}`;
  if (kinds.every((kind) => kind !== undefined)) return `must be ${listed(kinds, 'or')}`;
  const description = z.globalRegistry.get(inst as z.ZodType)?.description;
  return `does not fit${description === undefined ? '' : `: ${description}`}`;
}

/** `fieldMessage` for the values of a document. Unknown keys make one issue: its message has a line for each. */
function documentMessage(issue: z.core.$ZodRawIssue): string | undefined {
  const { input } = issue;
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = Object.keys((issue.inst as z.ZodObject).shape);
      return issue.keys.map((key) => unknownKeyMessage(key, known, issue)).join('\n');
    }
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'invalid_union':
      return unionMessage(issue);
    case 'invalid_value':
      return `${fieldMessage(issue)}${typeof input === 'string' ? suggestion(input, issue.values.map(String)) : ''}`;
    case 'invalid_type':
      if ((issue.path ?? []).length === 0 && issue.expected !== 'array') return NO_MAPPING;
      if (issue.expected === 'number' && typeof input === 'string')
        return `must be a number${numberHint(input)}`;
      return issue.expected === 'string' && typeof input === 'number' ? NO_TEXT : fieldMessage(issue);
    default:
      return fieldMessage(issue);
  }
}

/** Whether the type of a value fits, although something is wrong with it. */
const isOfType = (issue: z.core.$ZodIssue): boolean =>
  issue.path.length > 0 ||
  issue.code === 'unrecognized_keys' ||
  issue.code === 'custom' ||
  (issue.code === 'too_big' && issue.origin === 'array');

/** The branch of a union that was meant: of those whose type fits, the one with the fewest issues inside. */
function meantBranch({ errors }: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const fitting = errors.filter((branch) => branch.every(isOfType));
  const kinds = fitting.map((branch) =>
    branch.find(({ code, path }) => code === 'invalid_value' && path[0] === 'kind'),
  );
  if (kinds.length > 1 && kinds.every((kind) => kind?.code === 'invalid_value')) {
    const message = `must be one of ${kinds.flatMap(({ values }) => values).join(', ')}`;
    return [{ ...kinds[0]!, message }]; // none of the kinds was meant
  }
  return fitting.toSorted((a, b) => a.length - b.length)[0];
}

const expanded = (issues: readonly z.core.$ZodIssue[], above: Path): readonly Issue[] =>
  issues.flatMap((issue): readonly Issue[] => {
    const path = [...above, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const messages = issue.message.split('\n');
      return issue.keys.map((key, nth) => ({
        path: [...path, key],
        message: messages[nth]!,
        isUnknownKey: true,
      }));
    }
    const meant = issue.code === 'invalid_union' ? meantBranch(issue) : undefined;
    if (meant !== undefined) return expanded(meant, path);
    return [{ path, message: issue.message, isUnknownKey: false }];
  });

/** zod compiles a schema at its first use, which pays off for requests of the service only. */
export const READ_ONCE = { jitless: true };

/** Parses a document. Problems inside a union are those of the branch that was meant, and each unknown key is a problem of its own. */
export function parseShape<T extends z.ZodType>(
  schema: T,
  input: unknown,
):
  | { readonly value: z.output<T>; readonly issues?: never }
  | { readonly value?: never; readonly issues: readonly Issue[] } {
  if (valuesIn(input) > MAX_VALUES) {
    return { issues: [{ path: [], message: `must hold at most ${MAX_VALUES} values`, isUnknownKey: false }] };
  }
  const result = schema.safeParse(input, { ...READ_ONCE, error: documentMessage });
  if (result.success) return { value: result.data };
  const issues = expanded(result.error.issues, []);
  const misspelt = new Set(
    issues.filter(({ isUnknownKey }) => isUnknownKey).map(({ path }) => pathText(path.slice(0, -1))),
  );
  // a misspelt key is reported once: what is missing because of it is not another problem
  return { issues: issues.filter(({ isUnknownKey, path }) => isUnknownKey || !misspelt.has(pathText(path))) };
}

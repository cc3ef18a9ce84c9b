import type { z } from 'zod';
import type { FieldError } from './errors.ts';

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a JSON object',
  array: 'a list',
};

const at = (input: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key], input);

/** What is wrong with a field: the rest of a sentence that begins with its name. */
export function complaint(issue: z.core.$ZodIssue, value: unknown, whole = 'body'): string {
  if (value === undefined) return 'is required';
  if (/^(must|is) /.test(issue.message)) return issue.message; // a message of our own schema
  switch (issue.code) {
    case 'invalid_type':
      if (issue.expected === 'number' && typeof value === 'number') return 'is too large a number';
      if (issue.expected === 'string' && Array.isArray(value) && whole === 'query')
        return 'must be given once, as a string';
      return `must be ${TYPE_NAMES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must be at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    default:
      return issue.message;
  }
}

/**
 * The errors of `input`, one for each field, in the order of the schema ("beneficiary_ifsc is required").
 *
 * @param whole the name of the input itself ("body", "query"), for errors that concern no single field
 */
export function fieldErrors(error: z.core.$ZodError, input: unknown, whole: string): readonly FieldError[] {
  const byField = new Map<string, FieldError>();
  for (const issue of error.issues) {
    const field = issue.path.length === 0 ? whole : issue.path.join('.');
    if (byField.has(field)) continue; // the first error of a field is enough to fix it
    byField.set(field, { field, message: `${field} ${complaint(issue, at(input, issue.path), whole)}` });
  }
  return [...byField.values()];
}

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

/** What is wrong, as the end of a sentence that begins with the field's name. */
export function complaint(issue: z.core.$ZodIssue, value: unknown, whole = 'body'): string {
  if (value === undefined) return 'is required';
  if (/^(must|is) /.test(issue.message)) return issue.message; // our own words, where a schema has some
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
 * All that is wrong with `input`, one entry a field, in the order of the schema and in the words of the
 * interface ("beneficiary_ifsc is required").
 *
 * @param whole what to call the input itself when it is no object at all ("body", "query")
 */
export function fieldErrors(error: z.core.$ZodError, input: unknown, whole: string): readonly FieldError[] {
  const byField = new Map<string, FieldError>();
  for (const issue of error.issues) {
    const field = issue.path.length === 0 ? whole : issue.path.join('.');
    if (byField.has(field)) continue; // the first thing wrong with a field is enough to mend it
    byField.set(field, { field, message: `${field} ${complaint(issue, at(input, issue.path), whole)}` });
  }
  return [...byField.values()];
}

import type { FastifyError, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { Refusal, type FieldError } from '../../contract/errors.ts';
import { pathText, shapeIssues, type Path, type Suggest } from '../../contract/shape-issues.ts';

const PART_NAMES: Readonly<Record<string, string>> = { body: 'body', querystring: 'query', params: 'path' };

const inWords = (path: Path, whole: string, message: string): FieldError => {
  const field = path.length === 0 ? whole : pathText(path);
  return { field, message: `${field} ${message}` };
};

/** A refusal that names all that is wrong with a part of a request. */
export function wrongRequest(errors: readonly FieldError[]): Refusal {
  return new Refusal('INVALID_REQUEST', { message: errors.map(({ message }) => message).join('; '), errors });
}

/** Holds a value against its schema. @throws Refusal INVALID_REQUEST with all that is wrong with it */
export function checked<T extends z.ZodType>(
  schema: T,
  input: unknown,
  whole: string,
  suggest: Suggest,
): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw wrongRequest([inWords([], whole, 'must be a JSON object')]);
  }
  const issues = shapeIssues(result.error, input, schema, suggest);
  throw wrongRequest(
    issues.map(({ path, message, key }) =>
      inWords(key === undefined ? path : [...path, key], whole, message),
    ),
  );
}

/** Checks the parts of a request against their zod schemas. */
export const validatorWith =
  (suggest: Suggest): FastifySchemaCompiler<z.ZodType> =>
  ({ schema, httpPart = 'body' }) =>
  (input) => {
    try {
      return { value: checked(schema, input ?? undefined, PART_NAMES[httpPart] ?? httpPart, suggest) };
    } catch (error) {
      return { error: error as FastifyError };
    }
  };

import type { FastifyError, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import { Refusal, type FieldError } from '../../contract/errors.ts';
import { parseShape, pathText, reported, type Path } from '../../contract/shape-issues.ts';

const PART_NAMES: Readonly<Record<string, string>> = { body: 'body', querystring: 'query', params: 'path' };

const inWords = (path: Path, whole: string, message: string): FieldError => {
  const field = path.length === 0 ? whole : pathText(path);
  return { field, message: `${field} ${message}` };
};

/**
 * A refusal that names what is wrong with a part of a request.
 *
 * @param more how many problems there are beside these errors
 */
export function wrongRequest(errors: readonly FieldError[], more = 0): Refusal {
  const message = errors.map((error) => error.message).join('; ') + (more > 0 ? `; and ${more} more` : '');
  return new Refusal('INVALID_REQUEST', { message, errors });
}

/** Checks a value against its schema. @throws Refusal INVALID_REQUEST with everything that is wrong with it */
export function checked<T extends z.ZodType>(schema: T, input: unknown, whole: string): z.output<T> {
  const { value, issues } = parseShape(schema, input);
  if (issues === undefined) return value;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw wrongRequest([inWords([], whole, 'must be a JSON object')]);
  }
  const { shown, more } = reported(issues);
  throw wrongRequest(
    shown.map(({ path, message }) => inWords(path, whole, message)),
    more,
  );
}

/** Checks the parts of a request against their zod schemas. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart = 'body' }) =>
  (input) => {
    try {
      return { value: checked(schema, input ?? undefined, PART_NAMES[httpPart] ?? httpPart) };
    } catch (error) {
      return { error: error as FastifyError };
    }
  };

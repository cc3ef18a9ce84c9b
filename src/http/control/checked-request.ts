import type { FastifyError, FastifySchemaCompiler } from 'fastify';
import type { z } from 'zod';
import type { FieldError } from '../../contract/errors.ts';
import { pathText, reported, shapeIssues, type Path } from '../../contract/shape-issues.ts';
import { invalidRequest, partName } from '../schemas.ts';

const inWords = (path: Path, whole: string, message: string): FieldError => {
  const field = path.length === 0 ? whole : pathText(path);
  return { field, message: `${field} ${message}` };
};

/** Checks a value against its schema. @throws Refusal INVALID_REQUEST with everything that is wrong with it */
export function checked<T extends z.ZodType>(schema: T, input: unknown, whole: string): z.output<T> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw invalidRequest([inWords([], whole, 'must be a JSON object')]);
  }
  const { issues, more } = shapeIssues(result.error, input, schema);
  const first = reported(issues, more);
  throw invalidRequest(
    first.shown.map(({ path, message, key }) =>
      inWords(key === undefined ? path : [...path, key], whole, message()),
    ),
    first.more,
  );
}

/** Checks the parts of a request against their zod schemas. */
export const controlValidatorCompiler: FastifySchemaCompiler<z.ZodType> =
  ({ schema, httpPart }) =>
  (input) => {
    try {
      return { value: checked(schema, input ?? undefined, partName(httpPart)) };
    } catch (error) {
      return { error: error as FastifyError };
    }
  };

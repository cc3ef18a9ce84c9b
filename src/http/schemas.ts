import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import type { z } from 'zod';
import { Refusal, type FieldError } from '../contract/errors.ts';
import { fieldErrors } from '../contract/field-errors.ts';

/** What Fastify calls a part of a request, in the words of an answer. */
const PART_NAMES: Readonly<Record<string, string>> = { querystring: 'query', params: 'path' };
export const partName = (httpPart = 'body'): string => PART_NAMES[httpPart] ?? httpPart;

/**
 * A refusal that names what is wrong with a part of a request.
 *
 * @param more how many problems there are beside these errors
 */
export function invalidRequest(errors: readonly FieldError[], more = 0): Refusal {
  const message = errors.map((error) => error.message).join('; ') + (more > 0 ? `; and ${more} more` : '');
  return new Refusal('INVALID_REQUEST', { message, errors });
}

/** Checks a part of a request against its zod schema, and refuses all its fields at fault at once. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  const part = partName(httpPart);
  return (input) => {
    const result = schema.safeParse(input);
    if (result.success) return { value: result.data };
    return { error: invalidRequest(fieldErrors(result.error, input, part)) };
  };
};

/** Answers are made field by field from what their schemas say, so they are written as they are. */
export const serializerCompiler: FastifySerializerCompiler<z.ZodType> = () => JSON.stringify;

const neverCalled = (): never => {
  throw new Error('a schema met none of the compilers of the sandbox');
};
/** For `schemaController.compilersFactory`: in its place, Fastify would load ajv and its own serializers at each start. */
export const ownCompilersOnly = { buildValidator: neverCalled, buildSerializer: neverCalled };

import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import type { z } from 'zod';
import { Refusal } from '../contract/errors.ts';
import { fieldErrors, fieldMessage } from '../contract/shape-issues.ts';

/** What Fastify calls a part of a request, in the words of an answer. */
const PART_NAMES: Record<string, string> = { body: 'body', querystring: 'query' };

/** Checks a part of a request against its zod schema, and refuses all its fields at fault at once. */
export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart = 'body' }) => {
  const part = PART_NAMES[httpPart] ?? httpPart;
  return (input) => {
    const result = schema.safeParse(input, { error: fieldMessage });
    if (result.success) return { value: result.data };
    const errors = fieldErrors(result.error, part);
    const message = errors.map((error) => error.message).join('; ');
    return { error: new Refusal('INVALID_REQUEST', { message, errors }) };
  };
};

/** Answers are made field by field from what their schemas say, so they are written as they are. */
export const serializerCompiler: FastifySerializerCompiler<z.ZodType> = () => JSON.stringify;

const neverCalled = (): never => {
  throw new Error('a schema met none of the compilers of the sandbox');
};
/** For `schemaController.compilersFactory`: in its place, Fastify would load ajv and its own serializers at each start. */
export const ownCompilersOnly = { buildValidator: neverCalled, buildSerializer: neverCalled };

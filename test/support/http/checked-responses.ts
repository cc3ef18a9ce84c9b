import { subscribe } from 'node:diagnostics_channel';
import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ErrorResponse } from '../../../src/contract/errors.ts';
import { RESPONSES } from '../../../src/http/openapi/responses.ts';

/** Responses of this process that are not what the schemas of their routes say, in words. */
const wrongResponses: string[] = [];

export function failOnWrongResponses(): void {
  const wrong = wrongResponses.splice(0);
  if (wrong.length > 0) throw new Error(`responses that do not fit their schemas:\n${wrong.join('\n')}`);
}

/** Longer ones, of tests with thousands of items, would take seconds to check. */
const LONGEST = 1024 * 1024;

const byOperation: Readonly<Record<string, Readonly<Record<number, z.ZodType>>>> = RESPONSES;

/** The schema of a JSON response; undefined for one that a rule or a dialect may shape as it likes. */
function schemaOf(
  { exchange, routeOptions }: FastifyRequest,
  { statusCode }: FastifyReply,
): z.ZodType | undefined {
  if (exchange?.decided?.rule !== undefined) return undefined;
  const own = byOperation[routeOptions.schema?.operationId ?? '']?.[statusCode];
  const { body, status_word: word } = exchange?.dialect.errors ?? {};
  const isError = statusCode >= 400 && body === 'envelope' && word === 'error';
  return own ?? (isError ? ErrorResponse : undefined);
}

function check(schema: z.ZodType, text: string, what: string): void {
  if (text.length > LONGEST) return;
  const body: unknown = JSON.parse(text);
  const { success, data, error } = schema.safeParse(body);
  if (!success) wrongResponses.push(`${what}: ${z.prettifyError(error)} in ${text}`);
  else if (!isDeepStrictEqual(data, body)) wrongResponses.push(`${what}: unknown fields in ${text}`);
}

/** Calls back with the text of a stream once it has been made, without reading it. */
function whenMade(payload: Readable, callback: (text: string) => void): void {
  const push = payload.push.bind(payload);
  let text = '';
  payload.push = (chunk: string | null) => {
    if (chunk === null) callback(text);
    else if (text.length <= LONGEST) text += chunk;
    return push(chunk);
  };
}

subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance };
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const schema = schemaOf(request, reply);
    const isJson = String(reply.getHeader('content-type')).startsWith('application/json');
    if (schema !== undefined && isJson && request.method !== 'HEAD') {
      const checked = (text: string): void => check(schema, text, `${reply.statusCode} of ${request.url}`);
      if (payload instanceof Readable) whenMade(payload, checked);
      else checked(String(payload));
    }
    done(null, payload);
  });
});

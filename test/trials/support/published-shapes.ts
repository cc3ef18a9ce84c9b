import { expect } from 'vitest';
import { z } from 'zod';
import { ErrorResponse, REFUSALS } from '../../../src/contract/errors.ts';
import type { HttpResponse } from '../../support/http/http-responses.ts';
import { callsOf, openapiAt, type Json } from '../../support/http/openapi.ts';

/** An operation as the sandbox publishes it, with its request and its responses. */
export interface PublishedCall {
  readonly method: string;
  readonly path: string;
  /** Examples of its path and query parameters, by their names. */
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: string }[];
  readonly bodies: readonly unknown[];
  /** By status: the JSON schema of the response, or null for one that is not JSON. */
  readonly answers: ReadonlyMap<number, z.ZodType | null>;
}

/** Reads every operation from the document that the sandbox serves, so that new ones are attacked too. */
export async function publishedCalls(url: string): Promise<readonly PublishedCall[]> {
  const text = (await openapiAt(url)).replaceAll('#/components/schemas/', '#/$defs/');
  const document: Json = JSON.parse(text);
  const shapeOf = (schema: object): z.ZodType =>
    z.fromJSONSchema({ ...schema, $defs: document.components.schemas });
  return callsOf(document).map(({ method, path, operation }) => {
    const { parameters = [], requestBody, responses }: Json = operation;
    const json = requestBody?.content['application/json'];
    const answers = Object.entries<Json>(responses)
      .filter(([status]) => status !== 'default')
      .map(([status, { content }]): [number, z.ZodType | null] => {
        const schema = content['application/json']?.schema;
        return [Number(status), schema === undefined ? null : shapeOf(schema)];
      });
    const bodies = Object.values<Json>(json?.examples ?? {}).map(({ value }) => value as unknown);
    return { method, path, parameters, bodies, answers: new Map(answers) };
  });
}

const isJson = ({ headers }: HttpResponse): boolean =>
  /^application\/json\b/.test(headers['content-type'] ?? '');

/** Checks an error against the catalogue. */
function expectRefusal({ status, body }: HttpResponse): void {
  const { code } = ErrorResponse.parse(JSON.parse(body));
  expect(Object.keys(REFUSALS)).toContain(code);
  expect(REFUSALS[code as keyof typeof REFUSALS].status).toBe(status);
}

/** Fails for an internal error: a 5xx that comes from neither a rule nor a limit. */
function expectNoFault({ status, headers, body }: HttpResponse): void {
  const isOrdered = 'x-sandbox-rule' in headers || 'x-sandbox-limit' in headers;
  if (status >= 500 && !isOrdered) expect.fail(`a fault of the sandbox: ${status} ${body.slice(0, 500)}`);
}

/** Fails for a response that this operation does not publish. */
export function expectPublished(answer: HttpResponse, call: PublishedCall): void {
  expectNoFault(answer);
  if ('x-sandbox-rule' in answer.headers) return; // a rule may answer anything
  if (answer.status === 308 && answer.headers['location'] === '../docs') return; // a slash after the page's path
  const shape = call.answers.get(answer.status);
  if (answer.status >= 400) return expectRefusal(answer);
  if (shape === undefined) expect.fail(`${call.method} ${call.path} never answers ${answer.status}`);
  if (shape !== null) shape.parse(JSON.parse(answer.body));
}

/** Fails for a response that no operation publishes. */
export function expectAnyShape(answer: HttpResponse, calls: readonly PublishedCall[]): void {
  expectNoFault(answer);
  if ('x-sandbox-rule' in answer.headers || answer.body === '') return;
  if (answer.status >= 400) return expectRefusal(answer);
  if (!isJson(answer)) return;
  const body: unknown = JSON.parse(answer.body);
  const fits = calls.some(({ answers }) => answers.get(answer.status)?.safeParse(body).success ?? false);
  if (!fits) expect.fail(`no call answers ${answer.status} ${answer.body.slice(0, 500)}`);
}

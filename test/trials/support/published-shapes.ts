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

/** Fails for an internal error, and for a response that none of these operations publishes. */
export function expectPublished(answer: HttpResponse, calls: readonly PublishedCall[]): void {
  const { status, headers, body } = answer;
  const isOrdered = 'x-sandbox-rule' in headers || 'x-sandbox-limit' in headers;
  if (status >= 500 && !isOrdered) expect.fail(`a fault of the sandbox: ${status} ${body.slice(0, 500)}`);
  if ('x-sandbox-rule' in headers) return; // a rule may answer anything
  if (status >= 400) {
    const { code } = ErrorResponse.parse(JSON.parse(body));
    expect(REFUSALS).toMatchObject({ [code]: { status } });
    return;
  }
  const isPublished = calls.some(({ answers }) => {
    const shape = answers.get(status);
    return isJson(answer) ? shape?.safeParse(JSON.parse(body)).success : shape === null;
  });
  if (!isPublished) {
    const paths = calls.map(({ method, path }) => `${method} ${path}`).join(', ');
    expect.fail(`never a response of ${paths}: ${status} ${body.slice(0, 500)}`);
  }
}

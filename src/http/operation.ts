import type { FastifySchema } from 'fastify';
import type { z } from 'zod';
import type { RefusalCode } from '../contract/errors.ts';

/** The groups of calls in the OpenAPI document. */
export type Tag = 'Payouts' | 'World' | 'Clock' | 'Wallet' | 'Scenario' | 'Journal' | 'State' | 'Server';

/** A header that a successful response may have beside those that every response has. */
export type ResponseHeader = 'Idempotent-Replayed' | 'X-Sandbox-Warning';

/**
 * What the OpenAPI document says about a route, beside its schemas. Fastify reads none of it: the request's headers and body
 * are not under `headers` and `body`, since Fastify would validate those.
 */
interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tag?: Tag;
  /** Who may call it: anyone with the key of a world (the default), anyone with the admin token, or everybody. */
  readonly access?: 'admin' | 'everybody';
  /** Its errors, beside those of every route: invalid requests and keys. */
  readonly errors?: readonly RefusalCode[];
  readonly requestHeaders?: z.ZodObject;
  /** The request body of a route that validates it itself, since its messages say more than those of a schema. */
  readonly requestBody?: z.ZodType;
  readonly requestType?: string;
  /** The response of a route that writes it itself: not JSON, or JSON in pieces. */
  readonly answers?: { readonly type: string; readonly description: string; readonly schema?: z.ZodType };
  readonly responseHeaders?: readonly ResponseHeader[];
  /** True for a part of a page, which is not a call of the API. */
  readonly undocumented?: true;
}

declare module 'fastify' {
  interface FastifySchema extends Operation {}
}

/** The options of a route: what the OpenAPI document says about it, and the schemas of its request and its answers. */
export const operation = <const Schema extends FastifySchema>(
  tag: Tag,
  operationId: string,
  summary: string,
  schema: Schema,
) => ({ schema: { tag, operationId, summary, ...schema } });

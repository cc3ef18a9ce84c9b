import type { FastifyInstance, RouteOptions } from 'fastify';
import type { z } from 'zod';
import type { RefusalCode } from '../contract/errors.ts';

/** The chapters of the OpenAPI document. */
export type Tag = 'Payouts' | 'World' | 'Clock' | 'Wallet' | 'Scenario' | 'Journal' | 'State' | 'Server';

/** A header that an answer may have beside those that every one has. */
export type TellingHeader = 'Idempotent-Replayed' | 'X-Sandbox-Warning';

/** What the OpenAPI document says of a route, beside its schemas. Fastify reads none of it. */
interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tag?: Tag;
  /** Who may call it: whoever has a key of a world (when absent), whoever has the admin token, or everybody. */
  readonly access?: 'admin' | 'everybody';
  /** What it refuses beside what every route does: unsound requests, wrong keys. */
  readonly refuses?: readonly RefusalCode[];
  /** The headers that it looks at. Documented only: Fastify would check those under `headers`. */
  readonly heeds?: z.ZodObject;
  /** The body, of a route that checks it by itself, since it can say better what is wrong than a schema. */
  readonly takes?: z.ZodType;
  /** The media type of the body; JSON when absent. */
  readonly takesType?: string;
  /** The answer of a route that writes it by itself: no JSON, or JSON in pieces. */
  readonly answers?: { readonly type: string; readonly description: string; readonly schema?: z.ZodType };
  /** Headers that tell more about a normal answer. */
  readonly tells?: readonly TellingHeader[];
  /** True for what is a part of a page, and no call. */
  readonly undocumented?: true;
}

declare module 'fastify' {
  interface FastifySchema extends Operation {}
}

/** The routes that are registered after it, as they come: the OpenAPI document is made of them, so none is forgotten. */
export function collectRoutes(app: FastifyInstance): readonly RouteOptions[] {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => void routes.push(route));
  return routes;
}

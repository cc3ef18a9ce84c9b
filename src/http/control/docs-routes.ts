import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';

export interface Docs {
  /** The OpenAPI document of all routes, as JSON text. Made at the first call. */
  readonly openapi: () => Promise<string>;
  /** A file of the page that shows it, as it is or with gzip; undefined for what is none. */
  readonly docsFile: (
    name: string,
    isCompressed: boolean,
  ) => Promise<{ readonly type: string; readonly bytes: Buffer } | undefined>;
}

/** The page runs its own scripts and styles and talks to its own server; nothing else, and in no frame. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The OpenAPI document, and a page to read it and to try the calls: for everybody, since nothing of a world is in it. */
export const docsRoutes: FastifyPluginAsyncZod<Docs> = async (app, { openapi, docsFile }) => {
  app.get(
    '/openapi.json',
    {
      schema: {
        operationId: 'getOpenapi',
        summary: 'This document',
        tag: 'Server',
        access: 'everybody',
        answers: {
          type: 'application/json',
          description: 'The OpenAPI 3.1 document of the service and of the control API',
          schema: z.record(z.string(), z.unknown()),
        },
      },
    },
    async (_request, reply) => reply.type('application/json; charset=utf-8').send(await openapi()),
  );

  const send = async (name: string, accepted: string | undefined, reply: FastifyReply) => {
    const isCompressed = /\bgzip\b/.test(accepted ?? '');
    const file = await docsFile(name, isCompressed);
    if (file === undefined) throw new Refusal('ROUTE_NOT_FOUND', { message: `The page has no file ${name}` });
    void reply.headers({ 'content-security-policy': PAGE_POLICY, vary: 'accept-encoding' });
    if (isCompressed) void reply.header('content-encoding', 'gzip');
    return reply.type(file.type).send(file.bytes);
  };

  app.get(
    '/docs',
    {
      schema: {
        operationId: 'openDocs',
        summary: 'A page that shows this document',
        tag: 'Server',
        access: 'everybody',
        answers: { type: 'text/html', description: 'The page, which asks nobody but this server' },
      },
    },
    ({ headers }, reply) => send('index.html', headers['accept-encoding'], reply),
  );
  app.get(
    '/docs/:file',
    { schema: { undocumented: true, params: z.object({ file: z.string() }) } },
    ({ headers, params: { file } }, reply) => send(file, headers['accept-encoding'], reply),
  );
};

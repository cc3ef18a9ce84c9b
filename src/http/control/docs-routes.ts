import type { FastifyReply } from 'fastify';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';

export interface Docs {
  /** The OpenAPI document of all routes, as JSON text. Made at the first call. */
  readonly openapi: () => Promise<string>;
  /** A file of the page that shows it; undefined for a name that is none of its files. */
  readonly docsFile: (name: string) => Promise<DocsFile | undefined>;
}

interface DocsFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/** Whether an Accept-Encoding header allows gzip: by name, or else by `*`, and not with the weight 0. */
function acceptsGzip(header = ''): boolean {
  const codings = header.split(',').map((coding) => coding.toLowerCase().split(';'));
  const named = (name: string) => codings.find(([coding]) => coding?.trim() === name);
  const [, ...parameters] = named('gzip') ?? named('*') ?? ['', 'q=0'];
  return !parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter));
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
  let document: Promise<Buffer> | undefined; // one copy for all readers
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
    async (_request, reply) => {
      document ??= openapi().then((text) => Buffer.from(text));
      return reply.type('application/json; charset=utf-8').send(await document);
    },
  );

  const send = async (name: string, accepted: string | undefined, reply: FastifyReply) => {
    const file = await docsFile(name);
    if (file === undefined) throw new Refusal('ROUTE_NOT_FOUND', { message: `The page has no file ${name}` });
    void reply.headers({ 'content-security-policy': PAGE_POLICY, vary: 'accept-encoding' }).type(file.type);
    return acceptsGzip(accepted)
      ? reply.header('content-encoding', 'gzip').send(file.gzip)
      : reply.send(file.plain);
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
    ({ headers, params: { file } }, reply) =>
      // the addresses in the page are relative to /_sandbox/docs
      file === '' ? reply.redirect('../docs', 308) : send(file, headers['accept-encoding'], reply),
  );
};

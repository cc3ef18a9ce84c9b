import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';

/** One file of the page, as it is sent. */
export interface DashboardFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
}

interface Options {
  /** All files of the page by their path below it, read when it is first asked for; none where it was not built. */
  readonly dashboardFiles: () => ReadonlyMap<string, DashboardFile>;
}

const PAGE = 'index.html';

/** The page loads what is its own and nothing else, and no other page can frame it or send it anywhere. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache', // asked for again each time: an unchanged one costs nothing
};

/** The name of such a file says what is in it. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** The page that shows and steers one world. It needs no key, since it holds nothing: it asks for one. */
export const dashboardRoutes: FastifyPluginAsyncZod<Options> = async (app, { dashboardFiles }) => {
  const fileAt = (path: string): DashboardFile => {
    const files = dashboardFiles();
    const file = files.get(path); // from a list of known files: no path leads out of it
    if (file !== undefined) return file;
    const message =
      files.size === 0
        ? 'The page was not built: npm run build'
        : `The page has no file ${path}: load it anew`;
    throw new Refusal('ROUTE_NOT_FOUND', { message });
  };

  const schema = { undocumented: true } as const; // a page, and no call

  app.get('/', { prefixTrailingSlash: 'no-slash', schema }, (_request, reply) => {
    void reply.redirect('./_sandbox/', 308); // relative, since a proxy may have put something before it
  });

  app.get('/', { prefixTrailingSlash: 'slash', schema }, (request, reply) => {
    const { body, type, etag } = fileAt(PAGE);
    void reply.headers({ ...PAGE_HEADERS, etag });
    return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(body);
  });

  app.get(
    '/assets/:file',
    { schema: { ...schema, params: z.object({ file: z.string() }) } },
    (request, reply) => {
      const { body, type, etag } = fileAt(`assets/${request.params.file}`);
      return reply.headers({ 'cache-control': FOR_EVER, etag }).type(type).send(body);
    },
  );
};

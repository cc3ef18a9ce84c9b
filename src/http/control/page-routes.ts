import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';
import type { ControlRoutes } from '../routes.ts';

const HEADERS = {
  // a page loads its own files and nothing else, and no other page can frame it or send it anywhere
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache', // revalidated each time: an unchanged page is not sent again
};

/** For files whose names change with their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The dashboard. It needs no key, since its files hold no data. */
export const pageRoutes: ControlRoutes = async (app, { pageFiles }) => {
  const send = (path: string, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const files = pageFiles();
    const file = files.get(path); // looked up among known files: no path can leave the folder
    if (file === undefined) {
      const isBuilt = files.size > 0;
      const message = isBuilt
        ? `The page has no file ${path}: reload the page`
        : 'The page was not built: npm run build';
      throw new Refusal('ROUTE_NOT_FOUND', { message });
    }
    const { body, type, etag } = file;
    const isNamedByContent = path.startsWith('assets/');
    void reply.headers({ ...HEADERS, ...(isNamedByContent && { 'cache-control': IMMUTABLE }), etag });
    return headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(body);
  };

  const schema = { undocumented: true } as const; // a part of a page, not a call
  app.get('/', { prefixTrailingSlash: 'no-slash', schema }, (_request, reply) => {
    void reply.redirect('./_sandbox/', 308); // relative, since a proxy may serve it under a prefix
  });
  app.get('/', { prefixTrailingSlash: 'slash', schema }, (request, reply) =>
    send('index.html', request, reply),
  );
  const ofFile = { schema: { ...schema, params: z.object({ file: z.string() }) } };
  app.get('/assets/:file', ofFile, (request, reply) => send(`assets/${request.params.file}`, request, reply));
};

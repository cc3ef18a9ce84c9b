import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';
import type { ControlRoutes } from './control-options.ts';

const PAGE = 'index.html';

/** A page loads its own files and nothing else, and no other page can frame it or send it anywhere. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE_HEADERS = {
  'content-security-policy': PAGE_POLICY,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache', // revalidated each time: an unchanged page is not sent again
};

/** For files whose names change with their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

/** The page that shows and controls one world. It needs no key, since it holds no data: it asks the user for one. */
export const dashboardRoutes: ControlRoutes = async (app, { dashboardFiles }) => {
  const fileAt = (path: string) => {
    const files = dashboardFiles();
    const file = files.get(path); // looked up among known files: no path can leave the folder
    if (file !== undefined) return file;
    const isBuilt = files.size > 0;
    const message = isBuilt
      ? `The page has no file ${path}: reload the page`
      : 'The page was not built: npm run build';
    throw new Refusal('ROUTE_NOT_FOUND', { message });
  };

  const schema = { undocumented: true } as const; // a page, not a call

  app.get('/', { prefixTrailingSlash: 'no-slash', schema }, (_request, reply) => {
    void reply.redirect('./_sandbox/', 308); // relative, since a proxy may serve it under a prefix
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

import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { z } from 'zod';
import type { HealthResponse, LiveResponse } from '../../contract/control-responses.ts';
import { WorldsQuery } from '../../contract/control.ts';
import { Refusal } from '../../contract/errors.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import { pathText } from '../../contract/shape-issues.ts';
import { dropWorld, allWorldsRefereeRoutes } from './referee-routes.ts';
import { operation, type ControlRoutes } from '../routes.ts';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** The headers of the dashboard's files. */
const PAGE_HEADERS = {
  // a page loads its own files and nothing else, and no other page can frame it or send it anywhere
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache', // revalidated each time: an unchanged page is not sent again
  vary: 'accept-encoding',
};

/** For files whose names change with their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Routes that need no key, since their responses contain nothing about any world; the dashboard among them. */
export const serverRoutes: ControlRoutes = async (app, options) => {
  const { version, store, metricsText, openapi, pageFiles } = options;
  let isStopping = false;
  app.addHook('preClose', async () => void (isStopping = true));

  app.get(
    '/health',
    operation('Server', 'getHealth', 'Whether the sandbox is ready', {
      description:
        'Returns 503 while the server stops and, with a store, until it has reached that once, since its address or password may be wrong. Later, an unavailable store is a 200 with a status that says so, since the other servers most likely cannot use it either.',
      access: 'everybody',
    }),
    (_request, reply): z.infer<typeof HealthResponse> => {
      const status = isStopping ? 'stopping' : store?.isAway === true ? 'store_unavailable' : 'ready';
      if (isStopping || store?.wasReached === false) void reply.code(503);
      return { status, version };
    },
  );

  app.get(
    '/live',
    operation('Server', 'getLiveness', 'Whether the process is alive', {
      description: 'Returns 200 even while its store is unavailable, since a restart would not help.',
      access: 'everybody',
    }),
    (): z.infer<typeof LiveResponse> => ({ status: 'alive', version }),
  );

  let document: Promise<Buffer> | undefined; // one copy for all readers
  app.get(
    '/openapi.json',
    operation('Server', 'getOpenapi', 'This document', { access: 'everybody' }),
    async (_request, reply) => {
      document ??= openapi().then((text) => Buffer.from(text));
      return reply.type(JSON_TYPE).send(await document);
    },
  );

  app.get(
    '/metrics',
    operation('Server', 'getMetrics', 'Metrics for Prometheus', {
      description: 'Off unless SANDBOX_METRICS=on. No metric is about a single world.',
      access: 'everybody',
      errors: ['ROUTE_NOT_FOUND'],
      responseType: 'text/plain',
    }),
    async (_request, reply) => {
      if (metricsText !== null) return reply.type(METRICS_TYPE).send(await metricsText());
      const message = 'Metrics are off: SANDBOX_METRICS=on or --metrics on turns them on';
      throw new Refusal('ROUTE_NOT_FOUND', { message });
    },
  );

  const send = (path: string, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const files = pageFiles();
    const file = files.get(path); // looked up among known files: no path can leave the folder
    if (file === undefined) {
      const why = files.size > 0 ? `has no file ${path}: reload it` : 'was not built: npm run build';
      throw new Refusal('ROUTE_NOT_FOUND', { message: `The dashboard ${why}` });
    }
    const isNamedByContent = path.startsWith('assets/');
    const acceptsGzip = /\bgzip(?!\s*;\s*q=0)/.test(headers['accept-encoding'] ?? '');
    const zipped = acceptsGzip ? files.get(`${path}.gz`) : undefined;
    const { body, etag } = zipped ?? file;
    if (zipped !== undefined) void reply.header('content-encoding', 'gzip');
    void reply.headers({ ...PAGE_HEADERS, ...(isNamedByContent && { 'cache-control': IMMUTABLE }), etag });
    return headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(file.type).send(body);
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

/** Routes that concern more than one world, for the admin token only. */
export const adminRoutes: ControlRoutes = async (app, options) => {
  const { worlds, scenarios, requireAdmin } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    requireAdmin(request.headers.authorization);
    done();
  });

  app.get(
    '/worlds',
    operation('Server', 'listWorlds', 'All worlds', {
      description:
        'Least recently used first. A world that is used meanwhile moves to the end, so it may be listed twice, and none is left out.',
      access: 'admin',
      querystring: WorldsQuery,
    }),
    ({ query: { cursor = 0, limit } }) => worlds.page(cursor, limit),
  );

  await app.register(fp(allWorldsRefereeRoutes), options);

  app.post(
    '/scenarios/reload',
    operation('Server', 'reloadScenarios', 'Read the scenario files again', {
      description:
        'Reads the files in use and those of SANDBOX_SCENARIOS, on this server. Where the system reports changes, this happens by itself.',
      access: 'admin',
    }),
    () => scenarios.reload(),
  );

  app.delete(
    '/worlds/:id',
    operation('Server', 'dropWorld', 'Drop a world', {
      access: 'admin',
      errors: ['WORLD_NOT_FOUND'],
      params: z.object({ id: z.string().meta({ description: 'The id that a list of worlds shows' }) }),
    }),
    async ({ params: { id } }) => {
      if (!(await dropWorld(id, options)))
        throw new Refusal('WORLD_NOT_FOUND', { message: `There is no world ${pathText([id])}` });
      return { dropped: id };
    },
  );
};

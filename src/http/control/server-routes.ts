import fp from 'fastify-plugin';
import { z } from 'zod';
import type { HealthResponse, LiveResponse } from '../../contract/control-responses.ts';
import { WorldsQuery } from '../../contract/control.ts';
import { Refusal } from '../../contract/errors.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import { pathText } from '../../contract/shape-issues.ts';
import { dropWorld } from '../referee/evidence.ts';
import { allWorldsRefereeRoutes } from '../referee/referee-routes.ts';
import { operation, type ControlRoutes } from '../routes.ts';

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Routes that need no key, since their responses contain nothing about any world. */
export const serverRoutes: ControlRoutes = async (app, options) => {
  const { version, store, metricsText, openapi } = options;
  let isStopping = false;
  app.addHook('preClose', (done) => {
    isStopping = true;
    done();
  });

  app.get(
    '/health',
    operation('Server', 'getHealth', 'Whether the sandbox is ready', {
      description:
        'It listens once its scenarios are read and its state is restored; 503 while it stops, and with a store until it has reached that once: until then, its own address or password may be wrong. Later, while the store cannot be used, it is 200 with a status that says so: the other servers most likely cannot use the store either.',
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
      description: '200 even while its store is unavailable: a restart would not help.',
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
    operation('Server', 'getMetrics', 'What Prometheus scrapes', {
      description: 'Off unless SANDBOX_METRICS=on. It has nothing about single worlds.',
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
};

/** Routes that concern more than one world, for the admin token only. */
export const adminRoutes: ControlRoutes = async (app, options) => {
  const { worlds, requireAdmin } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    requireAdmin(request.headers.authorization);
    done();
  });

  app.get(
    '/worlds',
    operation('Server', 'listWorlds', 'All worlds', {
      description:
        'Least recently used first. A world that is used meanwhile moves to the end: it may come twice, and none is left out.',
      access: 'admin',
      querystring: WorldsQuery,
    }),
    ({ query: { cursor = 0, limit } }) => worlds.page(cursor, limit),
  );

  await app.register(fp(allWorldsRefereeRoutes), options);

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

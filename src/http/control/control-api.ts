import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { NoRequest } from '../../contract/control.ts';
import type { WorldHandle } from '../../log/world-log.ts';
import { worldIdOf } from '../../payout/identity.ts';
import { PRIVATE_HEADERS } from '../allowed-sites.ts';
import { goOn } from '../continuation.ts';
import { takeJsonBodies } from '../limits/json-body.ts';
import { inTurn } from '../limits/turns.ts';
import { adminRoutes } from './admin-routes.ts';
import { validatorCompiler } from './checked-request.ts';
import { clockRoutes } from './clock-routes.ts';
import type { ControlOptions } from './control-options.ts';
import { dashboardRoutes } from './dashboard-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { journalRoutes } from './journal-routes.ts';
import { scenarioRoutes } from './scenario-routes.ts';
import { serverRoutes } from './server-routes.ts';
import { stateRoutes } from './state-routes.ts';
import { walletRoutes } from './wallet-routes.ts';
import { worldRoutes } from './world-routes.ts';

/** What the paths of the control API begin with. */
export const CONTROL_PREFIX = '/_sandbox';

/** True for a path of the control API. */
export const isControlPath = (path: string): boolean =>
  path === CONTROL_PREFIX || path.startsWith(`${CONTROL_PREFIX}/`) || path.startsWith(`${CONTROL_PREFIX}?`);

/** Refuses what a route does not take, rather than ignoring it: `DELETE requests?route=initiate` would delete them all. */
function takeNothingElse(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const takesBody = route.method === 'GET' || route.schema?.requestBody !== undefined;
    const nothing = takesBody ? {} : { body: NoRequest };
    route.schema = { querystring: NoRequest, ...nothing, ...route.schema };
  });
}

/** An answer of this length or more is counted, and sent as bytes. */
const LONG_CHARACTERS = 16 * 1024;

/** The control API: the bearer key chooses the world, and nothing here is limited, faulted or journaled. */
export async function controlApi(
  app: FastifyInstance,
  { prefix: _prefix, ...options }: ControlOptions & { readonly prefix: string },
): Promise<void> {
  const { log, keyOf, unread } = options;
  app.setValidatorCompiler(validatorCompiler);
  takeJsonBodies(app, true);
  app.addHook('onRequest', (request, reply, done) => {
    request.isQuiet = request.method === 'GET';
    void reply.headers(PRIVATE_HEADERS);
    inTurn(request.raw.socket, reply.raw, done);
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < LONG_CHARACTERS) return done(null, payload);
    unread.wait(reply.raw, payload.length);
    done(null, Buffer.from(payload)); // Node would set three times its length aside to write a text
  });

  // called and not registered where nothing has to be kept apart: each context of Fastify's costs a start half a millisecond
  const open = app.withTypeProvider<ZodTypeProvider>();
  await serverRoutes(open, options);
  await dashboardRoutes(open, options);
  takeNothingElse(app);
  await app.register(adminRoutes, options);
  await app.register(async (keyed) => {
    keyed.addHook('onRequest', (request: FastifyRequest, _reply, done) => {
      const enter = (world: WorldHandle): void => {
        request.world = world;
        done();
      };
      goOn(log.use(worldIdOf(keyOf(request.headers.authorization))), enter, done);
    });
    const typed = keyed.withTypeProvider<ZodTypeProvider>();
    for (const routes of [
      worldRoutes,
      clockRoutes,
      walletRoutes,
      scenarioRoutes,
      journalRoutes,
      stateRoutes,
      eventRoutes,
    ]) {
      await routes(typed, options);
    }
  });
}

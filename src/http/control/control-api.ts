import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { NoRequest } from '../../contract/control.ts';
import { DEFAULT_DIALECT } from '../../contract/dialect.ts';
import { worldIdOf } from '../../payout/identity.ts';
import { PRIVATE_HEADERS } from '../request-checks.ts';
import { worldNameIn } from '../admission.ts';
import { takeJsonBodies } from '../json-bodies.ts';
import { refuseUnderPressure } from '../refusals.ts';
import { controlValidatorCompiler, type ControlOptions } from '../routes.ts';
import { journalRoutes } from './journal-routes.ts';
import { heldRoutes } from './held-routes.ts';
import { refereeRoutes } from './referee-routes.ts';
import { scenarioRoutes } from './scenario-routes.ts';
import { adminRoutes, serverRoutes } from './server-routes.ts';
import { stateRoutes } from './state-routes.ts';
import { walletRoutes } from './wallet-routes.ts';
import { worldRoutes } from './world-routes.ts';

/** Refuses what a route does not take, rather than ignoring it: `DELETE requests?route=initiate` would delete them all. */
function takeNothingElse(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const takesBody = route.method === 'GET' || route.schema?.requestBody !== undefined;
    const nothing = takesBody ? {} : { body: NoRequest };
    route.schema = { querystring: NoRequest, ...nothing, ...route.schema };
  });
}

/** The control API: the bearer key chooses the world, and nothing here is limited, faulted or journaled. */
export async function controlApi(
  app: FastifyInstance,
  { prefix: _prefix, ...options }: ControlOptions & { readonly prefix: string },
): Promise<void> {
  app.setValidatorCompiler(controlValidatorCompiler);
  takeJsonBodies(app, true);
  app.addHook('onRequest', ({ id, exchange, method }, reply, done) => {
    exchange.isQuiet = method === 'GET' || method === 'HEAD';
    exchange.dialect = DEFAULT_DIALECT; // whatever dialect its callers test
    void reply.headers({ ...PRIVATE_HEADERS, 'x-sandbox-request-id': id });
    done();
  });

  // with `fp` where nothing needs a context of its own: each adds half a millisecond to a start
  await app.register(fp(serverRoutes), options);
  takeNothingElse(app);
  await app.register(async (working) => {
    working.addHook('onRequest', refuseUnderPressure(options.pressure));
    await working.register(adminRoutes, options);
    await working.register(keyedRoutes, options);
  });
}

/** The routes of one world. */
async function keyedRoutes(keyed: FastifyInstance, options: ControlOptions): Promise<void> {
  const { worlds, keyOf } = options;
  keyed.addHook('onRequest', async (request) => {
    const world = await worlds.use(worldIdOf(keyOf(request.headers.authorization)));
    request.exchange.found(world);
    const name = worldNameIn(request.headers);
    if (name !== undefined && name !== world.latest.name) await world.submit({ kind: 'name', name });
  });
  const ofMoney = [worldRoutes, walletRoutes, scenarioRoutes, stateRoutes];
  const ofWorld = [...ofMoney, heldRoutes, journalRoutes, refereeRoutes];
  for (const routes of ofWorld) void keyed.register(fp(routes), options);
}

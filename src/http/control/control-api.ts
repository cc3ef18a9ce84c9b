import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { NoRequest } from '../../contract/control.ts';
import { HealthAnswer } from '../../contract/control-answers.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { WorldLog } from '../../log/world-log.ts';
import { worldIdOf } from '../../payout/identity.ts';
import { takeJsonBodies } from '../limits/json-body.ts';
import { adminRoutes } from './admin-routes.ts';
import { validatorCompiler } from './checked-request.ts';
import { clockRoutes } from './clock-routes.ts';
import { dashboardRoutes, type DashboardFile } from './dashboard-routes.ts';
import { docsRoutes, type Docs } from './docs-routes.ts';
import { eventRoutes } from './event-routes.ts';
import { journalRoutes } from './journal-routes.ts';
import { metricsRoutes, type Metered } from './metrics-routes.ts';
import type { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import { scenarioRoutes } from './scenario-routes.ts';
import { stateRoutes, type StateOptions } from './state-routes.ts';
import { inTurn } from '../limits/turns.ts';
import { walletRoutes } from './wallet-routes.ts';
import { worldRoutes } from './world-routes.ts';

/** Where the control API stands. */
export const CONTROL_PREFIX = '/_sandbox';

/** True for a path of the control API. */
export const isControlPath = (path: string): boolean =>
  path === CONTROL_PREFIX || path.startsWith(`${CONTROL_PREFIX}/`) || path.startsWith(`${CONTROL_PREFIX}?`);

/** What the routes of the control API are made with. */
export interface ControlOptions extends Docs, Metered, StateOptions {
  readonly log: WorldLog;
  /** Takes the key out of an Authorization header. @throws Refusal UNAUTHORIZED */
  readonly keyOf: (authorization: string | undefined) => string;
  /** Refuses whoever does not have the admin token. @throws Refusal UNAUTHORIZED */
  readonly requireAdmin: (authorization: string | undefined) => void;
  readonly scenarios: ScenarioLibrary;
  readonly wallClock: WallClock;
  readonly version: string;
  /** The files of the page, by their path. */
  readonly dashboardFiles: () => ReadonlyMap<string, DashboardFile>;
  readonly isStopping: () => boolean;
}

/** What a route does not take is refused, and not passed over: `DELETE requests?route=initiate` would forget them all. */
function takeNothingElse(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const deletes = route.method === 'DELETE' ? { body: NoRequest } : {};
    route.schema = { querystring: NoRequest, ...deletes, ...route.schema };
  });
}

/** From here on an answer is counted, and sent as bytes. */
const LONG_CHARACTERS = 16 * 1024;

/** Never from a cache; and nothing that a page elsewhere could use. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The control API: the bearer key chooses the world, and nothing here is limited, faulted or journaled. */
export async function controlApi(
  app: FastifyInstance,
  { prefix: _prefix, ...options }: ControlOptions & { readonly prefix: string },
): Promise<void> {
  const { log, keyOf, version, isStopping, unread } = options;
  app.setValidatorCompiler(validatorCompiler);
  takeJsonBodies(app, true);
  app.addHook('onRequest', (request, reply, done) => {
    request.isQuiet = request.method === 'GET';
    void reply.headers(HEADERS);
    inTurn(request.raw.socket, reply.raw, done);
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < LONG_CHARACTERS) return done(null, payload);
    unread.wait(reply.raw, payload.length);
    done(null, Buffer.from(payload)); // Node would set three times its length aside to write a text
  });

  const answersHealth = {
    operationId: 'getHealth',
    summary: 'Whether the sandbox is ready',
    description: 'It listens once its scenarios are read and its state is restored; 503 while it stops.',
    tag: 'Server',
    access: 'everybody',
    response: { 200: HealthAnswer, 503: HealthAnswer },
  } as const;
  app.get('/health', { schema: answersHealth }, (_request, reply): z.infer<typeof HealthAnswer> => {
    const status = isStopping() ? 'stopping' : 'ready';
    void reply.code(status === 'ready' ? 200 : 503);
    return { status, version };
  });
  // called and not registered where nothing has to be kept apart: each context of Fastify's costs a start half a millisecond
  const open = app.withTypeProvider<ZodTypeProvider>();
  await docsRoutes(open, options);
  await metricsRoutes(open, options);
  await dashboardRoutes(open, options);
  takeNothingElse(app);
  await app.register(adminRoutes, options);
  await app.register(async (keyed) => {
    keyed.addHook('onRequest', (request: FastifyRequest, _reply, done) => {
      request.world = log.use(worldIdOf(keyOf(request.headers.authorization)));
      done();
    });
    const typed = keyed.withTypeProvider<ZodTypeProvider>();
    await worldRoutes(typed, { activeSource: () => options.scenarios.active.source });
    await clockRoutes(typed, options);
    await walletRoutes(typed, {});
    await scenarioRoutes(typed, options);
    await journalRoutes(typed, options);
    await stateRoutes(typed, options);
    await eventRoutes(typed, options);
  });
}

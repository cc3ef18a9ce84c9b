import fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import type { Logger } from 'pino';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { refuseOtherSites } from './allowed-sites.ts';
import { CONTROL_PREFIX, isControlPath } from './control/control-api.ts';
import { Connections } from './limits/connections.ts';
import { takeJsonBodies } from './limits/json-body.ts';
import { UnreadAnswers } from './limits/unread-answers.ts';
import { answerOddHttp, errorHandler, refuseBrokenHttp } from './refusals.ts';
import { recordRequests, requestRecorder, type ExchangeObserver } from './request-log.ts';
import { setRequestId } from './sandbox-headers.ts';
import { ownCompilersOnly, serializerCompiler, validatorCompiler } from './schemas.ts';
import { refuseUnknownRoutes } from './unknown-routes.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024; // the path among them
const REQUEST_TIMEOUT_MS = 30_000; // from the first byte of a request to its last
const TIMEOUT_CHECK_MS = 5_000; // how late that may be noticed
const MAX_REQUESTS_AHEAD = 10_000; // on all connections, beside the first of each

interface Options {
  readonly log: Logger;
  readonly scenarios: ScenarioLibrary;
  readonly allowedHosts: readonly string[] | undefined;
  readonly maxConnections: number;
  /** How many bytes of long answers may wait for their readers. */
  readonly maxUnreadBytes: number;
  readonly stopwatchMs: () => number;
  /** Called with each exchange that is over. */
  readonly observe: ExchangeObserver | undefined;
}

/** What every request meets before its key is looked at: limits, the log, and one way to answer what is wrong. */
export function httpServer(options: Options) {
  const { log, scenarios } = options;
  const connectionEnded = (limit: string): void => log.warn({ limit }, 'connection ended');
  const connections = new Connections(options.maxConnections, MAX_REQUESTS_AHEAD, connectionEnded);
  const unread = new UnreadAnswers(options.maxUnreadBytes, connectionEnded);
  const scenarioOf = (url: string): Scenario => (isControlPath(url) ? scenarios.base : scenarios.active);
  const record = requestRecorder({ ...options, connections, unread, scenarioOf });
  const answerError = errorHandler(log, record);
  const refuseBroken = refuseBrokenHttp(log, connections, () => scenarios.active);
  const app: FastifyInstance = fastify({
    logger: false, // one line a request is written by recordRequests
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES }, // an id that is too long is an unknown one, not a bad path
    http: {
      requireHostHeader: false, // refuseUnknownRoutes says so in the envelope
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    schemaController: { compilersFactory: ownCompilersOnly },
    return503OnClosing: false, // what still comes in while we stop is answered, and its connection closed
    clientErrorHandler: refuseBroken,
    frameworkErrors: answerError,
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  connections.watch(app.server);
  answerOddHttp(app.server, refuseBroken);
  recordRequests(app, record);
  refuseOtherSites(app, options.allowedHosts);
  const routes: RouteOptions[] = []; // for the OpenAPI document too
  app.addHook('onRoute', (route) => void routes.push(route));
  refuseUnknownRoutes(app, routes, CONTROL_PREFIX);
  app.addHook('preHandler', (request, reply, done) => {
    setRequestId(request, reply); // late, since a request may choose the dialect that leaves it out
    done();
  });
  app.setErrorHandler(answerError);
  takeJsonBodies(app);
  return { app, routes, unread };
}

import fastify, { type FastifyInstance, type FastifyRequest, type RouteOptions } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { MAX_HEADERS } from '../contract/service.ts';
import type { WallClock } from '../log/wall-clock.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { Connections } from './limits/connections.ts';
import { MAX_BODY_BYTES, takeChunks, takeJsonBodies } from './limits/json-body.ts';
import { UnreadResponses } from './limits/unread-responses.ts';
import { handleAfterReading } from './one-turn.ts';
import type { HttpExchange } from './http-exchange.ts';
import { requestRecorder, type Recording } from './recorder.ts';
import { handleExpectAndConnect, errorHandler, refuseBrokenHttp } from './refusals.ts';
import { isControlPath, otherSites, refuseRepeatedHeaders, refuseUnknownRoute } from './request-checks.ts';
import { ownCompilersOnly, serializerCompiler, validatorCompiler } from './route-schemas.ts';

const MAX_HEADER_BYTES = 16 * 1024; // the path among them
const REQUEST_TIMEOUT_MS = 30_000; // from the first byte of a request to its last
const TIMEOUT_CHECK_MS = 5_000; // how often that is checked
const LONG_CHARACTERS = 16 * 1024; // a response of this length or more is counted, and sent as bytes

interface HttpServerOptions extends Pick<Recording, 'log' | 'stopwatchMs' | 'observe'> {
  readonly wallClock: WallClock;
  readonly scenarios: ScenarioLibrary;
  readonly allowedHosts: readonly string[] | undefined;
  readonly maxConnections: number;
  /** How many requests may wait for the responses before them, on all connections. */
  readonly maxRequestsAhead: number;
  /** How many bytes of long answers may wait for their readers. */
  readonly maxUnreadBytes: number;
  /** The name of this server among those of one store; undefined where there is one server. */
  readonly server: string | undefined;
}

/** Drops the body of a GET or a HEAD, which nothing reads: unread, it would hide that the client leaves. */
function dropBody({ method, raw }: FastifyRequest): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
  const isRead = method === 'GET' || method === 'HEAD';
  if (isRead && (length !== undefined || encoding !== undefined)) raw.resume();
}

/** Tells whoever comes back to a world why its payouts are gone, until it is reset. */
function tellDrop({ dialect, reply, world }: HttpExchange): void {
  const dropped = world?.droppedBefore ?? null;
  if (dropped !== null && dialect.answers.sandbox_headers === 'sent')
    void reply.header('x-sandbox-world-dropped', dropped);
}

/** What every request passes before its key is checked: limits, the log, and one way to answer errors. */
export function httpServer(options: HttpServerOptions) {
  const { log, scenarios, wallClock } = options;
  const connectionEnded = (limit: string): void => log.warn({ limit }, 'connection ended');
  const connections = new Connections(options.maxConnections, options.maxRequestsAhead, connectionEnded);
  const unread = new UnreadResponses(options.maxUnreadBytes, connectionEnded);
  const scenarioOf = (url: string): Scenario => (isControlPath(url) ? scenarios.base : scenarios.active);
  const record = requestRecorder({ ...options, connections, unread, scenarioOf });
  const answerError = errorHandler(log, record);
  const refuseBroken = refuseBrokenHttp(log, connections, () => scenarios.active);
  const idPrefix = options.server === undefined ? 'req-' : `req-${options.server}-`;
  let requests = 0;
  const app: FastifyInstance = fastify({
    logger: false, // one line a request is written by requestRecorder
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    genReqId: () => `${idPrefix}${(requests += 1).toString(36)}`,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES }, // an id that is too long is an unknown one, not a bad path
    http: {
      requireHostHeader: false, // refuseUnknownRoutes refuses it, in the envelope
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
    },
    schemaController: { compilersFactory: ownCompilersOnly },
    return503OnClosing: false, // a request that still comes in while we stop is answered, and its connection closed
    clientErrorHandler: refuseBroken,
    frameworkErrors: (error, request, reply) => void answerError(error, request, reply),
  });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  connections.watch(app.server);
  handleExpectAndConnect(app.server, refuseBroken);
  app.server.maxHeadersCount = MAX_HEADERS + 1; // Node silently drops those past it
  app.decorateRequest('exchange', null as never); // made by the first hook
  app.addHook('onRequest', (request, reply, done) => {
    if (request.raw.socket.destroyed) return; // it was pipelined on a connection that has been ended: nobody waits for it
    record(request, reply);
    dropBody(request);
    if (request.raw.rawHeaders.length > 2 * MAX_HEADERS) throw new Refusal('HEADERS_TOO_LARGE');
    refuseRepeatedHeaders(request.raw.rawHeaders);
    const handle = (): void => void (connections.isEnded(request.raw.socket) || done());
    if (takeChunks(request)) handleAfterReading(wallClock, handle);
    else done();
  });
  const refuseOtherSites = otherSites(app.server, options.allowedHosts);
  const routes: RouteOptions[] = []; // for the OpenAPI document too
  app.addHook('onRoute', (route) => void routes.push(route));
  app.addHook('onRequest', (request, _reply, done) => {
    refuseOtherSites(request);
    refuseUnknownRoute(request, routes);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    tellDrop(request.exchange);
    const text = typeof payload === 'string' ? payload : '';
    request.exchange.sending(text);
    if (text.length < LONG_CHARACTERS) return done(null, payload);
    unread.wait(reply.raw, text.length);
    done(null, Buffer.from(text)); // to write a text, Node would allocate three times its length
  });
  app.setErrorHandler(answerError);
  takeJsonBodies(app);
  return { app, routes, unread };
}

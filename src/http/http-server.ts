import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify';
import type { Logger } from 'pino';
import { Refusal } from '../contract/errors.ts';
import { MAX_HEADERS } from '../contract/service.ts';
import { SANDBOX_HEADER } from '../contract/words.ts';
import type { WallClock } from '../worlds/wall-clock.ts';
import type { ScenarioLibrary } from '../scenario/scenario-library.ts';
import { Connections, turns } from './limits/connections.ts';
import { MAX_BODY_BYTES, takeJsonBodies } from './json-bodies.ts';
import { HeavyWork } from './limits/heavy-work.ts';
import { HttpExchange, pathOf } from './http-exchange.ts';
import {
  asksForPage,
  handleExpectAndConnect,
  errorResponder,
  refuseBrokenHttp,
  refuseUnknownRoute,
} from './refusals.ts';
import { serverOptions } from './server-options.ts';
import { isControlPath, otherSites, ownCompilersOnly, refuseRepeatedHeaders } from './request-checks.ts';

const MAX_HEADER_BYTES = 16 * 1024; // the path among them
const LONG_CHARACTERS = 16 * 1024; // a response of this length or more is sent as bytes

interface HttpServerOptions {
  readonly log: Logger;
  readonly stopwatchMs: () => number;
  readonly version: string;
  readonly certificate: Parameters<typeof serverOptions>[0];
  readonly observe: ((exchange: HttpExchange) => void) | undefined;
  readonly wallClock: WallClock;
  readonly scenarios: ScenarioLibrary;
  readonly allowedHosts: readonly string[] | undefined;
  readonly maxConnections: number;
  /** The name of this server among those of one store; undefined where there is one server. */
  readonly server: string | undefined;
}

/** @param limit the one that ended its connection, if one did */
function outcomeOf({ reply: { raw }, fault }: HttpExchange, limit: string | undefined) {
  if (fault === 'malformed-json') return 'fault';
  if (raw.writableFinished && raw.req.socket.errored === null) return 'answered'; // a write that failed finishes, too
  return fault === undefined && limit === undefined ? 'client_gone' : 'fault';
}

const TRACEPARENT = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/;

/** The trace that a request belongs to, by the W3C's Trace Context; undefined without a valid header. */
function traceOf({ headers }: FastifyRequest): string | undefined {
  const { traceparent } = headers;
  return typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined;
}

/** What the log says of a request. The method and the path of a route of the service follow from its name. */
function lineOf(exchange: HttpExchange): object {
  const { request, route, world, decided, refusal } = exchange;
  return {
    world: world?.id.slice(0, 8),
    world_name: world?.latest.name ?? undefined,
    request_id: request.id,
    method: route === undefined ? request.method : undefined,
    route,
    path: route === undefined ? pathOf(request) : undefined,
    status: exchange.status,
    duration_ms: exchange.durationMs,
    code: exchange.code,
    client_ref_id: decided?.clientRefId ?? (route && exchange.named('client_ref_id')),
    txn_id: decided?.txnId,
    replayed: decided?.replayed,
    warnings: exchange.warnings,
    limit: exchange.limit,
    rule: decided?.rule ?? refusal?.details.rule,
    committed: decided?.effect ? decided.committed : undefined, // otherwise the status implies it
    delay_ms: decided?.delayMs,
    fault: exchange.fault,
    client_gone: exchange.outcome === 'client_gone' ? true : undefined,
    traceparent: traceOf(request),
  };
}

/** What every request passes before its key is checked: limits, the log, and one way to answer errors. */
export function httpServer(options: HttpServerOptions) {
  const { log, observe, scenarios, stopwatchMs, wallClock } = options;
  const connections = new Connections({
    max: options.maxConnections,
    wallClock,
    stopwatchMs,
    ended: (limit) => log.warn({ limit }, 'connection ended'),
  });
  const heavy = new HeavyWork(connections);
  /** Begins the exchange of a request, and writes its log line once it is over, whatever became of it. */
  const record = (request: FastifyRequest, reply: FastifyReply): void => {
    const isControl = isControlPath(request.url);
    if (isControl) void reply.header(SANDBOX_HEADER, options.version);
    const { dialect } = isControl ? scenarios.base : scenarios.active;
    const exchange = new HttpExchange(request, reply, dialect, stopwatchMs);
    request.exchange = exchange;
    const over = (limit: string | undefined): void => {
      try {
        exchange.close(outcomeOf(exchange, limit), limit);
        observe?.(exchange);
        const isShown = !exchange.isQuiet || exchange.code === 'UNAUTHORIZED'; // somebody may be guessing keys
        log[isShown ? 'info' : 'debug'](lineOf(exchange), 'request');
      } catch (error) {
        // the response has been sent, so the error can only be logged: it must not end a process with many worlds
        log.error({ err: error, request_id: request.id }, 'internal error in the sandbox');
      }
    };
    connections.began({ response: reply.raw, worldId: () => exchange.world?.id, over });
  };
  const respondTo = errorResponder(log, record);
  const refuseBroken = refuseBrokenHttp(log, connections, () => scenarios.active);
  const idPrefix = options.server === undefined ? 'req-' : `req-${options.server}-`;
  let requests = 0;
  const app: FastifyInstance = fastify({
    logger: false, // one line a request is written by `record`
    bodyLimit: MAX_BODY_BYTES,
    genReqId: () => `${idPrefix}${(requests += 1).toString(36)}`,
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: MAX_HEADER_BYTES }, // an id that is too long is an unknown one, not a bad path
    ...serverOptions(options.certificate),
    schemaController: { compilersFactory: ownCompilersOnly },
    return503OnClosing: false, // a request that still comes in while we stop is answered, and its connection closed
    clientErrorHandler: refuseBroken,
    frameworkErrors: (error, request, reply) => void respondTo(error, request, reply),
  });
  connections.watch(app.server);
  handleExpectAndConnect(app.server, refuseBroken);
  app.server.maxHeadersCount = MAX_HEADERS + 1; // Node silently drops those past it
  app.decorateRequest('exchange'); // made by the first hook
  const refuseOtherSites = otherSites(app.server, options.allowedHosts);
  const routes: RouteOptions[] = []; // for the OpenAPI document too
  app.addHook('onRoute', (route) => void routes.push(route));
  app.addHook('onRequest', (request, reply, done) => {
    record(request, reply);
    if (request.raw.rawHeaders.length > 2 * MAX_HEADERS) throw new Refusal('HEADERS_TOO_LARGE');
    refuseRepeatedHeaders(request.raw.rawHeaders);
    refuseOtherSites(request);
    if (request.is404 && asksForPage(request)) return void reply.redirect('./_sandbox/');
    if (request.is404) refuseUnknownRoute(request, routes);
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const dropped = request.exchange.world?.droppedBefore ?? null; // why its payouts are gone
    if (dropped !== null) void reply.header('x-sandbox-world-dropped', dropped);
    const text = typeof payload === 'string' ? payload : '';
    request.exchange.sending(text);
    if (text.length < LONG_CHARACTERS) return done(null, payload);
    done(null, Buffer.from(text)); // to write a text, Node would allocate three times its length
  });
  void app.register(turns, { wallClock, connections }); // its hooks come after those above
  app.setErrorHandler((error, request, reply) => {
    const reading = request.exchange?.readDialect() ?? null; // a method that Fastify does not know meets no hook
    // at once: what follows bytes that are no request may end the connection
    if (reading === null) return void respondTo(error, request, reply);
    return reading.then(() => respondTo(error, request, reply));
  });
  takeJsonBodies(app);
  return { app, routes, heavy, endLargest: connections.endLargest.bind(connections) };
}

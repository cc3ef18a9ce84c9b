import { STATUS_CODES, type IncomingHttpHeaders, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest, onRequestHookHandler, RouteOptions } from 'fastify';
import type { Logger } from 'pino';
import { DEFAULT_DIALECT } from '../contract/dialect.ts';
import { Refusal, REFUSALS, type RefusalCode } from '../contract/errors.ts';
import { listed } from '../contract/words.ts';
import { pathOf } from './http-exchange.ts';
import { LONGEST_HEADER } from './json-bodies.ts';
import type { Connections } from './limits/connections.ts';
import { CONTROL_PREFIX, isControlPath } from './request-checks.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { errorBody, refusalResponse } from '../world/request/other-responses.ts';

/** The refusals for errors of Fastify and Node, by their codes. */
const REFUSAL_CODES: Readonly<Record<string, RefusalCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'INVALID_JSON',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'INVALID_JSON',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
};

/** The refusal of a body that is not JSON, with what came instead. */
function otherType({ 'content-type': type }: IncomingHttpHeaders): Refusal {
  const came = type === undefined ? 'no Content-Type' : `Content-Type: ${type.slice(0, LONGEST_HEADER)}`;
  return new Refusal('UNSUPPORTED_MEDIA_TYPE', {
    message: `${REFUSALS.UNSUPPORTED_MEDIA_TYPE.message}; this request has ${came}`,
  });
}

/** The refusal of work for which there is no place or no memory now. */
export const busy = (limit: string): Refusal =>
  new Refusal('SANDBOX_BUSY', { limit, headers: { 'retry-after': '1' } });

/** A hook that refuses work while memory is short. What gives memory back goes on. */
export const refuseUnderPressure =
  (pressure: { readonly isHigh: boolean }): onRequestHookHandler =>
  ({ method }, _reply, done) => {
    if (pressure.isHigh && method !== 'DELETE') throw busy('SANDBOX_MAX_MEMORY');
    done();
  };

/** Turns an error that the caller caused into a refusal; undefined for a bug in the sandbox. */
function refusalOf(error: unknown, headers: IncomingHttpHeaders): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_BAD_URL') {
    return new Refusal('MALFORMED_REQUEST', { message: 'The path is not a valid URL' });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return otherType(headers);
  const isCallers = statusCode >= 400 && statusCode < 500;
  const known = REFUSAL_CODES[code] ?? (isCallers ? 'MALFORMED_REQUEST' : undefined);
  return known && new Refusal(known);
}

/** Sends a text as it is; an empty one as no body at all. */
export const sendText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.send(text === '' ? undefined : text);

/** Turns every error of a request into its response. @param record begins the exchange of a request */
export const errorResponder =
  (log: Logger, record: (request: FastifyRequest, reply: FastifyReply) => void) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // Fastify calls no hook for a path that cannot be decoded, nor for a method that it does not know
    if (!request.exchange) record(request, reply);
    const { exchange } = request;
    const known = refusalOf(error, request.headers);
    if (known === undefined) {
      log.error({ err: error, request_id: request.id }, 'internal error in the sandbox');
      void reply.removeHeader('x-sandbox-rule'); // a bug in the sandbox must not look like an ordered fault
    }
    const { data } = known ?? new Refusal('INTERNAL_ERROR');
    exchange.refusal = data;
    // also for one that is refused before the hooks of the control API
    const dialect = isControlPath(request.url) ? DEFAULT_DIALECT : exchange.dialect;
    const { status, headers, body } = refusalResponse(data, dialect, request.id);
    return sendText(reply.code(status).headers(headers), body);
  };

/** Node's code for a request that the client itself cut short. */
const CLIENT_ENDED = 'HPE_INVALID_EOF_STATE';

/**
 * Answers input that never became a request: bytes that are not HTTP, headers without end, a body that does not come. Earlier
 * requests on the connection are answered first, since this refusal would be taken for their response.
 */
export function refuseBrokenHttp(
  log: Logger,
  connections: Pick<Connections, 'owedResponse'>,
  activeScenario: () => Pick<Scenario, 'dialect'>,
): (error: Error & { code?: string }, socket: Socket) => void {
  const waiting = new WeakSet<Socket>();

  const refuseInTurn = (socket: Socket, code: RefusalCode): void => {
    if (socket.destroyed) return;
    const owed = connections.owedResponse(socket);
    if (owed !== undefined) return void owed.once('close', () => refuseInTurn(socket, code));
    const { status, message } = REFUSALS[code];
    const { text, contentType } = errorBody({ status, code, message }, activeScenario().dialect.errors);
    log.info({ status, code }, 'request');
    if (socket.writable) {
      socket.write(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
          (contentType === null ? '' : `Content-Type: ${contentType}\r\n`) +
          `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
      );
    }
    socket.destroySoon();
  };

  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET' || socket.destroyed) return;
    // nobody waits for the responses before it any more
    if (code === CLIENT_ENDED && connections.owedResponse(socket) !== undefined) return socket.destroySoon();
    if (waiting.has(socket)) return;
    waiting.add(socket);
    refuseInTurn(socket, REFUSAL_CODES[code] ?? 'MALFORMED_REQUEST');
  };
}

/** Handles what Node would answer by itself, without our envelope: an `Expect` header, which is ignored, and CONNECT. */
export function handleExpectAndConnect(server: Server, refuseBroken: ReturnType<typeof refuseBrokenHttp>) {
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => refuseBroken(new Error('CONNECT'), socket));
}

/** Whether a path matches a route: `/transactions/TXN1` of `/transactions/:txn_id`. */
function fits(route: string, path: string): boolean {
  const [parts, asked] = [route.split('/'), path.split('/')];
  return (
    asked.length === parts.length &&
    parts.every((part, index) => (part.startsWith(':') ? asked[index] !== '' : asked[index] === part))
  );
}

/** The routes in words: `GET and DELETE /rules, GET /transactions/{txn_id}`. */
function listOf(routes: readonly RouteOptions[]): string {
  const methods = new Map<string, string>();
  for (const { url, method } of routes.filter(({ method }) => method !== 'HEAD')) {
    const known = methods.get(url);
    methods.set(url, known === undefined ? String(method) : `${known} and ${String(method)}`);
  }
  return [...methods].map(([url, names]) => `${names} ${url.replace(/:(\w+)/g, '{$1}')}`).join(', ');
}

/** Whether a browser asks for the address alone, which leads to the dashboard. To a client, it is an unknown path. */
export const asksForPage = ({ method, url, headers: { accept } }: FastifyRequest): boolean =>
  method === 'GET' && url === '/' && accept?.includes('text/html') === true;

/** Refuses a path or a method that nothing serves, before its body is read. The control API's routes are listed apart. */
export function refuseUnknownRoute(request: FastifyRequest, routes: readonly RouteOptions[]): void {
  const path = pathOf(request);
  const methods = routes.filter(({ url }) => fits(url, path)).flatMap(({ method }) => method);
  if (methods.length === 0) {
    const isControl = path.startsWith(CONTROL_PREFIX);
    const others = routes.filter(({ url }) => url.startsWith(CONTROL_PREFIX) === isControl);
    throw new Refusal('ROUTE_NOT_FOUND', { message: `No such route. The routes are ${listOf(others)}` });
  }
  throw new Refusal('METHOD_NOT_ALLOWED', {
    message: `This route supports only ${listed(methods)}`,
    headers: { allow: methods.join(', ') },
  });
}

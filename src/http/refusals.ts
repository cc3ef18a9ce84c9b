import { STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Dialect } from '../contract/dialect.ts';
import { Refusal, REFUSALS, type FieldError, type RefusalCode } from '../contract/errors.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { JSON_TYPE } from './limits/json-body.ts';
import type { Connections } from './limits/connections.ts';
import type { Recorder } from './exchange-record.ts';
import { setRequestId, setSandboxHeader } from './exchange-record.ts';

/** Fastify's own errors, and our codes for them. */
const FASTIFY_REFUSALS: Readonly<Record<string, RefusalCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'INVALID_JSON',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'INVALID_JSON',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
};

const CLIENT_ERRORS: Readonly<Record<string, RefusalCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
};

/** What an error says, before a dialect puts it into words. */
interface ErrorFacts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly FieldError[] | undefined;
}

/** The body of an error, in the words of the dialect: JSON text, or nothing. The interface shows none. */
export function errorBody(
  { status, code, message, errors }: ErrorFacts,
  { body, status_word }: Dialect['errors'],
): { readonly text: string; readonly contentType: string | null } {
  if (body === 'empty') return { text: '', contentType: null };
  if (body === 'problem') {
    const title = STATUS_CODES[status] ?? 'Error';
    const text = JSON.stringify({ type: 'about:blank', title, status, detail: message, code, errors });
    return { text, contentType: 'application/problem+json; charset=utf-8' };
  }
  const shown = body === 'message' ? { message } : { status: status_word, message, code, errors };
  return { text: JSON.stringify(shown), contentType: JSON_TYPE };
}

const factsOf = ({ code, message, details }: Refusal): ErrorFacts => ({
  status: REFUSALS[code].status,
  code,
  message,
  errors: details.errors,
});

/** Turns an error that the caller caused into a refusal; undefined for a bug in the sandbox. */
function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  if (code === 'FST_ERR_BAD_URL') {
    return new Refusal('MALFORMED_REQUEST', { message: 'The path is not a valid URL' });
  }
  const isCallers = statusCode >= 400 && statusCode < 500;
  const known = FASTIFY_REFUSALS[code] ?? (isCallers ? 'MALFORMED_REQUEST' : undefined);
  return known && new Refusal(known);
}

/** Writes the status and headers of a refusal into the reply. @returns the body */
export function refuse(refusal: Refusal, reply: FastifyReply): string {
  const { code, details } = refusal;
  reply.refusal = refusal.data;
  setRequestId(reply);
  if (details.headers !== undefined) void reply.headers(details.headers);
  if (details.limit !== undefined) setSandboxHeader(reply, 'x-sandbox-limit', details.limit);
  if (details.rule !== undefined) setSandboxHeader(reply, 'x-sandbox-rule', details.rule);
  const { text, contentType } = errorBody(factsOf(refusal), reply.request.dialect.errors);
  if (contentType !== null) void reply.type(contentType);
  void reply.code(REFUSALS[code].status);
  return text;
}

/** Sends a text as it is; an empty one as no body at all. */
export const sendText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.send(text === '' ? undefined : text);

/** Makes the error handler, which turns every error of a request into its answer. */
export const errorHandler =
  (log: Logger, record: Recorder) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    // Fastify calls no hook for a path that cannot be decoded, nor for a method that it does not know
    if (request.dialect === undefined) record(request, reply);
    const refusal = refusalOf(error);
    if (refusal === undefined) {
      log.error({ err: error, request_id: request.id }, 'internal error in the sandbox');
      void reply.removeHeader('x-sandbox-rule'); // a bug in the sandbox must not look like an ordered fault
    }
    void sendText(reply, refuse(refusal ?? new Refusal('INTERNAL_ERROR'), reply));
  };

/** Node's code for a request that the client itself cut short. */
const CLIENT_ENDED = 'HPE_INVALID_EOF_STATE';

/**
 * Answers input that never became a request: bytes that are not HTTP, headers without end, a body that does not come. Earlier
 * requests on the connection are answered first, since this refusal would be taken for their answer.
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
    const facts = factsOf(new Refusal(code));
    const { text, contentType } = errorBody(facts, activeScenario().dialect.errors);
    log.info({ status: facts.status, code }, 'request');
    if (socket.writable) {
      socket.write(
        `HTTP/1.1 ${facts.status} ${STATUS_CODES[facts.status]}\r\n` +
          (contentType === null ? '' : `Content-Type: ${contentType}\r\n`) +
          `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
      );
    }
    socket.destroySoon();
  };

  return ({ code = '' }, socket) => {
    if (code === 'ECONNRESET' || socket.destroyed) return;
    // nobody waits for the answers before it any more
    if (code === CLIENT_ENDED && connections.owedResponse(socket) !== undefined) return socket.destroySoon();
    if (waiting.has(socket)) return;
    waiting.add(socket);
    refuseInTurn(socket, CLIENT_ERRORS[code] ?? 'MALFORMED_REQUEST');
  };
}

/** Handles what Node would answer by itself, without our envelope: an `Expect` header, which is ignored, and CONNECT. */
export function answerOddHttp(server: Server, refuseBroken: ReturnType<typeof refuseBrokenHttp>): void {
  server.on('checkExpectation', (request, response) => void server.emit('request', request, response));
  server.on('connect', (_request, socket: Socket) => refuseBroken(new Error('CONNECT'), socket));
}

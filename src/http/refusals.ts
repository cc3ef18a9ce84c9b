import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { Refusal, REFUSALS, type RefusalCode } from '../contract/errors.ts';
import { DEFAULT_DIALECT } from '../domain/dialect.ts';

/** What Fastify itself refuses, in our catalogue. */
const FASTIFY_REFUSALS: Readonly<Record<string, RefusalCode>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'INVALID_JSON',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'INVALID_JSON',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
};

const CLIENT_ERRORS: Readonly<Record<string, RefusalCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
};

/** The body of an error, in the words of the dialect. The interface shows none. */
const errorBody = ({ code, message, details }: Refusal): object => ({
  status: DEFAULT_DIALECT.errorStatusWord,
  message,
  code,
  errors: details.errors,
});

interface Failure {
  readonly code?: string;
  readonly statusCode?: number;
}

/** A refusal for what a caller did wrong; undefined for what is our own fault. */
function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  const { code = '', statusCode = 500 } = error as Failure;
  const known = FASTIFY_REFUSALS[code];
  if (known !== undefined) return new Refusal(known);
  return statusCode >= 400 && statusCode < 500 ? new Refusal('MALFORMED_REQUEST') : undefined;
}

/** Sends a refusal, and says in a header which limit of the sandbox made it up, if one did. */
function refuse(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { code, details } = refusal;
  request.record.code = code;
  if (details.headers !== undefined) void reply.headers(details.headers);
  if (details.limit !== undefined) {
    request.record.limit = details.limit;
    void reply.header('x-sandbox-limit', details.limit);
  }
  return reply.code(REFUSALS[code].status).send(errorBody(refusal));
}

/** Turns every error of a request into an answer: the one place where that happens. */
export function answerErrors(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error);
    if (refusal !== undefined) return refuse(refusal, request, reply);
    log.error({ err: error, request_id: request.id }, 'a fault of the sandbox');
    return refuse(new Refusal('INTERNAL_ERROR'), request, reply);
  });
}

/** Answers a path that cannot be decoded, which Fastify refuses before any hook runs. */
export const refuseBadPath =
  (log: Logger) =>
  (_error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    request.record = {};
    void refuse(new Refusal('MALFORMED_REQUEST', { message: 'The path is not a valid URL' }), request, reply);
    log.info({ request_id: request.id, status: 400, code: request.record.code }, 'request');
  };

/** Answers what never became a request: bytes that are no HTTP, headers without end, a body that does not come. */
export function refuseBrokenHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const refusal = new Refusal(CLIENT_ERRORS[error.code ?? ''] ?? 'MALFORMED_REQUEST');
  const { status } = REFUSALS[refusal.code];
  const body = JSON.stringify(errorBody(refusal));
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

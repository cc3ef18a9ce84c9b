import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dialect } from '../../contract/dialect.ts';
import { Refusal } from '../../contract/errors.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { replacesBody, type Respond } from '../../scenario/rule.ts';
import type { Answer, RequestResult, SeenEffect } from '../../world/requests.ts';
import { exchangeOf, noteAnswer, updateJournal } from '../exchange-record.ts';
import { JSON_TYPE } from '../limits/json-body.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';
import { errorBody, refuse, sendText } from '../refusals.ts';
import { setSandboxHeader } from '../sandbox-headers.ts';
import { heldBack } from './delayed-response.ts';
import { breakWire } from './wire-faults.ts';

/** What an answer waits with, and where it waits. */
export interface Waiting {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

/** Makes the body of a route's 200. */
export type BodyOf = (answer: Answer, dialect: Dialect) => object;

/** What the interface calls the statuses that it lists, and the code that our catalogue has for them. */
const LISTED: Readonly<Record<number, { readonly code: string; readonly message: string }>> = {
  400: { code: 'INVALID_REQUEST', message: 'Invalid request parameters' },
  401: { code: 'UNAUTHORIZED', message: 'Unauthorized' },
  402: { code: 'INSUFFICIENT_BALANCE', message: 'Insufficient balance' },
  404: { code: 'TRANSACTION_NOT_FOUND', message: 'No such transaction' },
  429: { code: 'RATE_LIMITED', message: 'Rate limit exceeded' },
  500: { code: 'INTERNAL_ERROR', message: 'Internal server error' },
};

/** The headers that go with a status, unless the rule orders others. */
function usualHeaders(status: number, { rate_limit: rows }: Dialect): Readonly<Record<string, string>> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  return status === 429 && rows.retry_after === 'seconds' ? { 'retry-after': '1' } : {};
}

/**
 * Answers a request of the service with what its world made of it: normally, or as a rule orders.
 *
 * @throws Refusal as the world refused it
 */
export async function respond(
  result: RequestResult,
  bodyOf: BodyOf,
  request: FastifyRequest,
  reply: FastifyReply,
  waiting: Waiting,
): Promise<unknown> {
  const { answer, effect, dialect } = result;
  request.result = result;
  request.dialect = dialect;
  if (effect !== null) return applyEffect(effect, result, bodyOf, request, reply, waiting);
  if (answer.kind === 'refused') throw new Refusal(answer.refusal.code, answer.refusal.details);
  sayReplayed(answer, request, reply);
  return bodyOf(answer, dialect);
}

function sayReplayed(answer: Answer, request: FastifyRequest, reply: FastifyReply): void {
  if (answer.kind === 'payout' && answer.replayed) {
    setSandboxHeader(request, reply, 'idempotent-replayed', 'true');
  }
}

/** The client sees what the rule orders. The money has moved already; only the answer waits. */
async function applyEffect(
  effect: SeenEffect,
  result: RequestResult,
  bodyOf: BodyOf,
  request: FastifyRequest,
  reply: FastifyReply,
  { wallClock, unread }: Waiting,
): Promise<FastifyReply> {
  const { fault, delayMs } = effect;
  const { world } = request;
  const { socket } = request.raw;
  const wait = async (ms: number | null) => {
    const until = heldBack(ms, socket, world, wallClock); // first: a reset that comes now must find it
    await updateJournal(request, reply);
    world.announce(exchangeOf(request, reply)); // so that whoever watches sees that it hangs
    return until;
  };
  setSandboxHeader(request, reply, 'x-sandbox-rule', effect.rule);
  const text = writeAnswer(effect, result, bodyOf, request, reply);

  if (delayMs > 0) {
    reply.ordered = { ...reply.ordered, delayMs };
    const how = await wait(delayMs);
    if (how === 'left') return reply.hijack();
    if (how === 'ended' || how === 'reset') void reply.header('connection', 'close'); // answered at once, for the last time
  }
  if (fault === null) return sendText(reply, text);
  reply.ordered = { ...reply.ordered, fault: fault.kind };
  void reply.hijack();
  const answer = { status: reply.statusCode, headers: reply.getHeaders(), body: text };
  if (fault.kind !== 'hang') {
    await noteAnswer(request, reply, answer);
    unread.wait(reply.raw, text.length);
  }
  await breakWire(fault, { response: reply.raw, socket, answer, garbage: effect.garbage, wait });
  return reply;
}

/** Writes status and headers into the reply. @returns the body */
function writeAnswer(
  { respond: ordered }: SeenEffect,
  { answer, dialect }: RequestResult,
  bodyOf: BodyOf,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  if (ordered !== null && replacesBody(ordered)) return writeOrdered(ordered, dialect, reply);
  if (answer.kind === 'refused') {
    const { code, details } = answer.refusal;
    return refuse(new Refusal(code, details), request, reply); // 402 and the like are answers too
  }
  sayReplayed(answer, request, reply);
  const text = answer.kind === 'none' ? '' : (reply.serialize(bodyOf(answer, dialect)) as string);
  void reply.type(JSON_TYPE);
  if (ordered !== null) void reply.code(ordered.status).headers(ordered.headers ?? {});
  return text;
}

/** Writes the answer that a rule orders in the place of the normal one. @returns its body */
function writeOrdered(
  { status, body, headers, code: orderedCode, message: orderedMessage }: Respond,
  dialect: Dialect,
  reply: FastifyReply,
): string {
  void reply.code(status).headers({ ...usualHeaders(status, dialect), ...headers });
  if (body !== undefined) {
    reply.ordered = { code: status >= 400 ? orderedCode : undefined };
    const isText = typeof body === 'string';
    if (!reply.hasHeader('content-type')) void reply.type(isText ? 'text/plain; charset=utf-8' : JSON_TYPE);
    return isText ? body : JSON.stringify(body);
  }
  const code = orderedCode ?? LISTED[status]?.code ?? `HTTP_${status}`;
  const message = orderedMessage ?? LISTED[status]?.message ?? STATUS_CODES[status] ?? 'Error';
  reply.ordered = { code };
  const { text, contentType } = errorBody({ status, code, message }, dialect.errors);
  if (contentType !== null && !reply.hasHeader('content-type')) void reply.type(contentType);
  return text;
}

import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dialect } from '../../contract/dialect.ts';
import { Refusal } from '../../contract/errors.ts';
import type { Plan } from '../../scenario/plan.ts';
import type { Fault, Respond, Rule } from '../../scenario/rule.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { journalEntry } from '../../world/journal-entry.ts';
import { heldBack } from './delayed-response.ts';
import { errorBody, refuse, sendText } from '../refusals.ts';
import { noteAnswer } from '../request-record.ts';
import { tell } from '../sandbox-headers.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';
import { breakWire } from './wire-faults.ts';

/** The normal answer of a route. */
interface Normal {
  /** Does what was asked for, and gives the body of its answer. @throws Refusal */
  readonly act: () => Promise<object>;
  /** The body as if it had been done; null where nothing is ever done, as for reads. */
  readonly pretend: (() => object) | null;
}

/** What an answer waits with, and where it waits. */
interface Waiting {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

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

const JSON_TYPE = 'application/json; charset=utf-8';

/** The faults that leave a body to be seen, whole or in part. */
const showsBody = (fault: Fault | null): boolean =>
  fault === null || ['truncated-body', 'malformed-json', 'slow-body'].includes(fault.kind);

/** True for an answer that stands in the place of the normal one with a body of its own. */
const replacesBody = (respond: Respond | null): boolean =>
  respond !== null && (respond.body !== null || respond.status >= 300);

/** Writes the answer that a rule orders into the reply. @returns its body */
function ordered(respond: Respond, request: FastifyRequest, reply: FastifyReply): string {
  const { status, body, headers } = respond;
  void reply.code(status).headers({ ...usualHeaders(status, request.scenario.dialect), ...headers });
  if (body !== null) {
    request.record.code = status >= 400 && respond.code !== null ? respond.code : undefined;
    const isText = typeof body === 'string';
    if (!reply.hasHeader('content-type')) void reply.type(isText ? 'text/plain; charset=utf-8' : JSON_TYPE);
    return isText ? body : JSON.stringify(body);
  }
  const code = respond.code ?? LISTED[status]?.code ?? `HTTP_${status}`;
  const message = respond.message ?? LISTED[status]?.message ?? STATUS_CODES[status] ?? 'Error';
  request.record.code = code;
  const { text, contentType } = errorBody({ status, code, message }, request.scenario.dialect.errors);
  if (contentType !== null && !reply.hasHeader('content-type')) void reply.type(contentType);
  return text;
}

/** Does what the rule leaves to be done, and writes the answer into the reply. @returns its body */
async function answerOf(
  { effect }: Rule,
  normal: Normal,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<string> {
  const { respond, fault, commit } = effect;
  const { record } = request;
  const isReplaced = replacesBody(respond);
  const isActed = normal.pretend === null ? !isReplaced && showsBody(fault) : commit;
  if (normal.pretend !== null) record.committed = false;
  let text = '';
  try {
    if (isActed) {
      text = reply.serialize(await normal.act()) as string;
      if (normal.pretend !== null) record.committed = record.replayed !== true;
    } else if (normal.pretend !== null && !isReplaced) {
      text = reply.serialize(normal.pretend()) as string;
    }
    void reply.type(JSON_TYPE);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (!isReplaced && fault === null && effect.delay === null) {
      void reply.removeHeader('x-sandbox-rule'); // this answer is none of its making
      record.rule = undefined;
    }
    text = refuse(error, request, reply); // 402 and the like are answers too: the rule still has its way with them
    if (!isReplaced) return text;
  }
  if (respond !== null && isReplaced) {
    for (const name of ['content-type', 'idempotent-replayed']) void reply.removeHeader(name);
    return ordered(respond, request, reply);
  }
  if (respond !== null) void reply.code(respond.status).headers(respond.headers);
  return text;
}

/**
 * Answers a request that met a rule: the payout happens or does not, whatever the client is then made to see, and when.
 * The money is moved at once; only the answer waits.
 */
export async function answerUnderRule(
  plan: Plan & { readonly rule: Rule },
  normal: Normal,
  request: FastifyRequest,
  reply: FastifyReply,
  { wallClock, unread }: Waiting,
): Promise<FastifyReply> {
  const { rule, draw, delayMs } = plan;
  const { fault } = rule.effect;
  const { record, world } = request;
  const { socket } = request.raw;
  const wait = (ms: number | null) => {
    world.events.publish('request', () => journalEntry(record)); // it hangs: whoever watches sees it
    return heldBack(ms, socket, world, wallClock);
  };
  record.rule = rule.id;
  tell(request, reply, 'x-sandbox-rule', rule.id);
  const text = await answerOf(rule, normal, request, reply);

  if (delayMs > 0) {
    record.delayMs = delayMs;
    const how = await wait(delayMs);
    if (how === 'left') return reply.hijack();
    if (how === 'ended' || how === 'reset') void reply.header('connection', 'close'); // answered at once, for the last time
  }
  if (fault === null) return sendText(reply, text);
  record.fault = fault.kind;
  void reply.hijack();
  const answer = { status: reply.statusCode, headers: reply.getHeaders(), body: text };
  if (fault.kind !== 'hang') {
    noteAnswer(request, answer);
    unread.wait(reply.raw, text.length);
  }
  await breakWire(fault, { response: reply.raw, socket, answer, draw, wait });
  return reply;
}

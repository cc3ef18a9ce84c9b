import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Dialect } from '../../contract/dialect.ts';
import { Refusal } from '../../contract/errors.ts';
import { retryAfterSeconds } from '../../scenario/rate-window.ts';
import { replacesBody, type Respond } from '../../scenario/rule.ts';
import { asItIs, filled, filledBody, filledHeaders, type TemplateValues } from '../../scenario/template.ts';
import type { Answer, SeenEffect } from '../../world/request/request-result.ts';
import { noteAnswer, noteWait, setSandboxHeader } from '../exchange-record.ts';
import { JSON_TYPE } from '../limits/json-body.ts';
import type { Waiting } from '../limits/unread-answers.ts';
import { errorBody, refuse, sendText } from '../refusals.ts';
import { breakWire, heldBack } from './wire-faults.ts';

/** The statuses that the interface lists: its words for them, and the codes of our catalogue. */
const LISTED: Readonly<Record<number, { readonly code: string; readonly message: string }>> = {
  400: { code: 'INVALID_REQUEST', message: 'Invalid request parameters' },
  401: { code: 'UNAUTHORIZED', message: 'Unauthorized' },
  402: { code: 'INSUFFICIENT_BALANCE', message: 'Insufficient balance' },
  404: { code: 'TRANSACTION_NOT_FOUND', message: 'No such transaction' },
  429: { code: 'RATE_LIMITED', message: 'Rate limit exceeded' },
  500: { code: 'INTERNAL_ERROR', message: 'Internal server error' },
};

const ONE_SECOND = 1000;

/** The headers that go with a status, unless the rule orders others. */
function usualHeaders(
  status: number,
  { rate_limit: rows }: Dialect,
  { limitLeftMs }: SeenEffect,
): Readonly<Record<string, string>> {
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  return status === 429 && rows.retry_after === 'seconds'
    ? { 'retry-after': retryAfterSeconds(limitLeftMs ?? ONE_SECOND) }
    : {};
}

interface OrderedAnswer {
  readonly effect: SeenEffect;
  readonly answer: Answer;
  /** Makes the body of the route's 200. */
  readonly normalBody: () => object;
  /** What a rule's own texts can name of the request. */
  readonly values: () => TemplateValues;
}

/** Answers a request of the service as a rule orders. The money has moved already; only the answer waits. */
export async function applyEffect(
  ordered: OrderedAnswer,
  reply: FastifyReply,
  { wallClock, unread }: Waiting,
): Promise<FastifyReply> {
  const { effect } = ordered;
  const { fault, delayMs, garbage } = effect;
  let announced: FastifyReply['ordered'];
  const wait = async (ms: number | null) => {
    const until = heldBack(ms, reply, wallClock); // first: a reset that comes now must find it
    if (announced !== reply.ordered) {
      announced = reply.ordered; // once for each effect that waits, so that readers of events see that it hangs
      await noteWait(reply);
    }
    return until;
  };
  setSandboxHeader(reply, 'x-sandbox-rule', effect.rule);
  const body = writeAnswer(ordered, reply);
  confineScripts(reply);

  if (delayMs > 0) {
    reply.ordered = { ...reply.ordered, delayMs };
    const how = await wait(delayMs);
    if (how === 'left') return reply.hijack();
    if (how === 'ended' || how === 'reset') void reply.header('connection', 'close'); // answered at once, as the last answer on its connection
  }
  if (fault === null) return sendText(reply, body);
  reply.ordered = { ...reply.ordered, fault: fault.kind };
  void reply.hijack();
  if (fault.kind !== 'hang') {
    await noteAnswer(reply, body);
    unread.wait(reply.raw, body.length);
  }
  await breakWire(fault, { reply, body, garbage, wait });
  return reply;
}

/** The types in which no browser runs scripts. */
const WITHOUT_SCRIPTS = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain)\s*(?:;[^,]*)?$/i; // of several, the last counts

/** A page that a rule answers must not act as a page of the sandbox: a link could send a browser to it without a key. */
function confineScripts(reply: FastifyReply): void {
  const type = reply.getHeader('content-type');
  if (type === undefined || WITHOUT_SCRIPTS.test(String(type))) return;
  void reply.headers({ 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' });
}

/** Writes status and headers into the reply. @returns the body */
function writeAnswer({ effect, answer, normalBody, values }: OrderedAnswer, reply: FastifyReply): string {
  const { respond } = effect;
  if (respond !== null && replacesBody(respond)) return writeOwn(respond, effect, values(), reply);
  if (answer.kind === 'refused') {
    return refuse(new Refusal(answer.refusal.code, answer.refusal.details), reply); // 402 and the like are answers too
  }
  const text = answer.kind === 'none' ? '' : (reply.serialize(normalBody()) as string);
  void reply.type(JSON_TYPE);
  if (respond === null) return text;
  void reply.code(respond.status).headers(filledHeaders(respond.headers ?? {}, values()));
  return text;
}

/** Writes the answer that a rule orders instead of the normal one. @returns its body */
function writeOwn(
  { status, body, headers = {}, code: orderedCode, message: orderedMessage }: Respond,
  effect: SeenEffect,
  values: TemplateValues,
  reply: FastifyReply,
): string {
  const { dialect } = reply.request;
  void reply.code(status);
  void reply.headers({ ...usualHeaders(status, dialect, effect), ...filledHeaders(headers, values) });
  if (body !== undefined) {
    reply.ordered = { code: status >= 400 ? orderedCode : undefined };
    const isText = typeof body === 'string';
    if (!reply.hasHeader('content-type')) void reply.type(isText ? 'text/plain; charset=utf-8' : JSON_TYPE);
    return filledBody(body, values, String(reply.getHeader('content-type')));
  }
  const code = orderedCode ?? LISTED[status]?.code ?? `HTTP_${status}`;
  const message =
    orderedMessage === undefined
      ? (LISTED[status]?.message ?? STATUS_CODES[status] ?? 'Error')
      : filled(orderedMessage, values, asItIs);
  reply.ordered = { code };
  const { text, contentType } = errorBody({ status, code, message }, dialect.errors);
  if (contentType !== null && !reply.hasHeader('content-type')) void reply.type(contentType);
  return text;
}

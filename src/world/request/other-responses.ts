import type { SentResponse } from '../../contract/snapshot.ts';
import { STATUS_CODES } from 'node:http';
import type { Dialect } from '../../contract/dialect.ts';
import { hasContent } from '../../contract/scenario-document.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import { refusalMessage, REFUSALS, type FieldError, type RefusalData } from '../../contract/errors.ts';
import type { Respond } from '../../scenario/rule.ts';
import { retryAfterSeconds } from '../../scenario/rate-limit.ts';
import { asItIs, filled, filledBody, filledHeaders, type Filling } from '../../scenario/template.ts';

/** The responses other than a normal one: refusals, and those that rules make. */

const TEXT_TYPE = 'text/plain; charset=utf-8';
const ONE_SECOND = 1000;

/** The statuses that the payout API lists: its words for them, and the codes of our catalogue. */
const LISTED: Readonly<Record<number, { readonly code: string; readonly message: string }>> = {
  400: { code: 'INVALID_REQUEST', message: 'Invalid request parameters' },
  401: { code: 'UNAUTHORIZED', message: 'Unauthorized' },
  402: { code: 'INSUFFICIENT_BALANCE', message: 'Insufficient balance' },
  404: { code: 'TRANSACTION_NOT_FOUND', message: 'No such transaction' },
  429: { code: 'RATE_LIMITED', message: 'Rate limit exceeded' },
  500: { code: 'INTERNAL_ERROR', message: 'Internal server error' },
};

/** What an error says, before a dialect puts it into words. */
interface ErrorFacts {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly FieldError[] | undefined;
}

/** The body of an error, in the words of the dialect: JSON text, or nothing. The payout API shows none. */
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

export type Headers = Record<string, string | string[]>;

/** Adds headers, whose names may be in any case. */
export function addHeaders(headers: Headers, more: Readonly<Headers> = {}): void {
  for (const [name, value] of Object.entries(more)) headers[name.toLowerCase()] = value;
}

/** The response that refuses a request. */
export function refusalResponse(
  refusal: RefusalData,
  dialect: Dialect,
  requestId: string,
  headers: Headers = {},
): SentResponse {
  const { code, details } = refusal;
  const { status } = REFUSALS[code];
  headers['x-sandbox-request-id'] = requestId;
  addHeaders(headers, details.headers);
  if (details.limit !== undefined) headers['x-sandbox-limit'] = details.limit;
  if (details.rule !== undefined) headers['x-sandbox-rule'] = details.rule;
  const facts = { status, code, message: refusalMessage(refusal), errors: details.errors };
  const { text, contentType } = errorBody(facts, dialect.errors);
  if (contentType !== null) headers['content-type'] = contentType;
  return { status, headers, body: text };
}

/** The code of the response that a rule makes; undefined where it has none. */
export function codeOf(respond: Respond | null): string | undefined {
  if (respond === null) return undefined;
  const { status, body, code } = respond;
  if (body !== undefined) return status >= 400 ? code : undefined;
  return code ?? LISTED[status]?.code ?? `HTTP_${status}`;
}

/** The response that a rule makes instead of the normal one. @param limitLeftMs how long its limit still refuses requests */
export function ownResponse(
  respond: Respond,
  limitLeftMs: number | null,
  dialect: Dialect,
  filling: Filling,
  headers: Headers,
): SentResponse {
  const { status, body, message: ownMessage } = respond;
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 429 && dialect.rate_limit.retry_after === 'seconds') {
    headers['retry-after'] = retryAfterSeconds(limitLeftMs ?? ONE_SECOND);
  }
  addHeaders(headers, filledHeaders(respond.headers ?? {}, filling));
  if (body !== undefined) {
    headers['content-type'] ??= typeof body === 'string' ? TEXT_TYPE : JSON_TYPE;
    return responseWith(status, headers, filledBody(body, filling, String(headers['content-type'])));
  }
  const message =
    ownMessage === undefined
      ? (LISTED[status]?.message ?? STATUS_CODES[status] ?? 'Error')
      : filled(ownMessage, filling, asItIs);
  const { text, contentType } = errorBody({ status, code: codeOf(respond)!, message }, dialect.errors);
  if (contentType !== null) headers['content-type'] ??= contentType;
  return responseWith(status, headers, text);
}

/** The types in which no browser runs scripts. */
const WITHOUT_SCRIPTS = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain)\s*(?:;[^,]*)?$/i; // of several, the last counts

/**
 * The response with the status and the headers of a rule. A page that a rule makes must not act as a page of the sandbox: a link could
 * send a browser to it without a key.
 */
export function responseWith(status: number, headers: Headers, body: string): SentResponse {
  const { 'content-type': type, ...others } = headers;
  if (!hasContent(status)) return { status, headers: others, body: '' };
  const isConfined = type !== undefined && !WITHOUT_SCRIPTS.test(String(type));
  const confined = { 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };
  return { status, headers: isConfined ? { ...headers, ...confined } : headers, body };
}

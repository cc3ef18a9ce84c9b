import { STATUS_CODES } from 'node:http';
import type { Dialect } from '../../contract/dialect.ts';
import { refusalMessage, REFUSALS, type FieldError, type RefusalData } from '../../contract/errors.ts';
import type { RouteName } from '../../contract/match.ts';
import type { BalanceResponse, InitiateResponse, StatusResponse } from '../../contract/service.ts';
import type { Payout } from '../../payout/payout.ts';
import type { SentResponse } from '../snapshot-lines.ts';
import { invariant, toInr } from '../../payout/money.ts';
import {
  retryAfterSeconds,
  replacesBody,
  type Effect,
  type Hold,
  type RequestFacts,
  type Respond,
} from '../../scenario/rule.ts';
import {
  asItIs,
  filled,
  filledBody,
  filledHeaders,
  fillingWith,
  type Filling,
} from '../../scenario/template.ts';

/** What a request resulted in, and its response as text: made for the client, and again whenever somebody reads the journal. */

/** The result of a request of the service: plain data, from which HTTP makes its response. */
export interface RequestResult {
  readonly route: RouteName;
  /** Which request of its world it is, counted from 1. */
  readonly request: number;
  /** The dialect of the response. */
  readonly dialect: Dialect;
  /** Which attempt of its reference it is, from 1; 0 where attempts are not counted. */
  readonly attempt: number;
  /** How a rule changes what the client sees; null for the normal response. */
  readonly effect: SeenEffect | null;
  readonly answer: Answer;
  /** Whether this request made a payout. */
  readonly committed: boolean;
  /** The balance before and after it; null when the ledger was not asked. */
  readonly balances: { readonly beforePaise: number; readonly afterPaise: number } | null;
  /** Set when a rule holds the request. While it has only arrived, nothing was done and the response is `none`. */
  readonly hold?: Hold & { readonly id: number };
}

/** What a rule does to the response. */
export interface SeenEffect extends Pick<Effect, 'respond' | 'fault'> {
  /** The rule: `scenario/rule`. */
  readonly rule: string;
  /** Wall time, ms. */
  readonly delayMs: number;
  /** How long its limit still refuses requests, in ms of world time; null for a rule without a limit. */
  readonly limitLeftMs: number | null;
  /** World time when the request was handled, ms since the epoch. */
  readonly nowMs: number;
  /** The bytes of the fault `garbage`, from 0 to 255; empty for all others. */
  readonly garbage: readonly number[];
}

/** The normal response: that of the ledger, or the one it would have given if it had been asked. */
export type Answer =
  | { readonly kind: 'payout'; readonly payout: Payout; readonly replayed: boolean }
  | { readonly kind: 'balance'; readonly balancePaise: number; readonly lastUpdatedMs: number }
  | { readonly kind: 'refused'; readonly refusal: RefusalData }
  /** Nothing was done, and a rule's own answer replaces the normal one. There is no payout that its texts could name. */
  | { readonly kind: 'none' };

export const JSON_TYPE = 'application/json; charset=utf-8';
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

type Headers = Record<string, string>;

/** Adds headers, whose names may be in any case. */
function addHeaders(headers: Headers, more: Readonly<Headers> = {}): void {
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
  const isShown = dialect.answers.sandbox_headers === 'sent';
  if (isShown) headers['x-sandbox-request-id'] = requestId;
  addHeaders(headers, details.headers);
  if (isShown && details.limit !== undefined) headers['x-sandbox-limit'] = details.limit;
  if (isShown && details.rule !== undefined) headers['x-sandbox-rule'] = details.rule;
  const facts = { status, code, message: refusalMessage(refusal), errors: details.errors };
  const { text, contentType } = errorBody(facts, dialect.errors);
  if (contentType !== null) headers['content-type'] = contentType;
  return { status, headers, body: text };
}

/** What a response names of its request. */
export interface AskedFor {
  readonly requestId: string;
  readonly fields: RequestFacts['fields'];
  readonly warnings?: readonly string[] | undefined;
}

/** The whole response to a request of the service, as its result says. */
export function responseOf(result: RequestResult, asked: AskedFor): SentResponse {
  const { answer, effect, dialect } = result;
  const headers: Headers = {};
  const isShown = dialect.answers.sandbox_headers === 'sent';
  if (isShown) headers['x-sandbox-request-id'] = asked.requestId;
  if (isShown && asked.warnings !== undefined) headers['x-sandbox-warning'] = asked.warnings.join('; ');
  if (isShown && effect !== null) headers['x-sandbox-rule'] = effect.rule;
  const respond = effect?.respond ?? null;
  if (effect !== null && respond !== null && replacesBody(respond)) {
    return ownResponse(respond, effect, result, asked, headers);
  }
  if (answer.kind === 'refused') {
    return refusalResponse(answer.refusal, dialect, asked.requestId, headers);
  }
  if (isShown && answer.kind === 'payout' && answer.replayed) headers['idempotent-replayed'] = 'true';
  headers['content-type'] = JSON_TYPE;
  const body = answer.kind === 'none' ? '' : JSON.stringify(normalBody(result));
  if (effect === null || respond === null) return { status: 200, headers, body };
  addHeaders(headers, filledHeaders(respond.headers ?? {}, fillingFor(effect, result, asked)));
  return { status: respond.status, headers: confined(headers), body };
}

/** The code of the response that a rule makes; undefined where it has none. */
export function codeOf(respond: Respond | null): string | undefined {
  if (respond === null) return undefined;
  const { status, body, code } = respond;
  if (body !== undefined) return status >= 400 ? code : undefined;
  return code ?? LISTED[status]?.code ?? `HTTP_${status}`;
}

/** The response that a rule makes instead of the normal one. */
function ownResponse(
  respond: Respond,
  effect: SeenEffect,
  result: RequestResult,
  asked: AskedFor,
  headers: Headers,
): SentResponse {
  const { status, body, message: ownMessage } = respond;
  const { dialect } = result;
  const filling = fillingFor(effect, result, asked);
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  if (status === 429 && dialect.rate_limit.retry_after === 'seconds') {
    headers['retry-after'] = retryAfterSeconds(effect.limitLeftMs ?? ONE_SECOND);
  }
  addHeaders(headers, filledHeaders(respond.headers ?? {}, filling));
  if (body !== undefined) {
    headers['content-type'] ??= typeof body === 'string' ? TEXT_TYPE : JSON_TYPE;
    return {
      status,
      headers: confined(headers),
      body: filledBody(body, filling, headers['content-type']),
    };
  }
  const message =
    ownMessage === undefined
      ? (LISTED[status]?.message ?? STATUS_CODES[status] ?? 'Error')
      : filled(ownMessage, filling, asItIs);
  const { text, contentType } = errorBody({ status, code: codeOf(respond)!, message }, dialect.errors);
  if (contentType !== null) headers['content-type'] ??= contentType;
  return { status, headers: confined(headers), body: text };
}

/** The types in which no browser runs scripts. */
const WITHOUT_SCRIPTS = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain)\s*(?:;[^,]*)?$/i; // of several, the last counts

/** A page that a rule makes must not act as a page of the sandbox: a link could send a browser to it without a key. */
function confined(headers: Headers): Headers {
  const type = headers['content-type'];
  if (type === undefined || WITHOUT_SCRIPTS.test(type)) return headers;
  return { ...headers, 'content-security-policy': 'sandbox', 'x-content-type-options': 'nosniff' };
}

/** What a text of a rule can name of its request, and of the payout that it made or found. */
function fillingFor(
  { nowMs }: SeenEffect,
  { answer, attempt, dialect }: RequestResult,
  { fields, requestId }: AskedFor,
): Filling {
  return fillingWith({
    ...(fields as Filling['values']),
    ...(answer.kind === 'payout' && initiateBody(answer.payout, dialect).data),
    attempt: attempt === 0 ? null : attempt, // 0 where attempts are not counted
    now: timestamp(nowMs, dialect),
    request_id: requestId,
  });
}

/** ISO 8601 in UTC, with milliseconds or whole seconds. */
function timestamp(atMs: number, { answers }: Dialect): string {
  const text = new Date(atMs).toISOString();
  return answers.timestamps === 'seconds' ? text.replace(/\.\d+/, '') : text;
}

/** The body of a 200, in the format of the payout API. */
function normalBody({
  route,
  answer,
  dialect,
}: RequestResult): InitiateResponse | StatusResponse | BalanceResponse {
  if (answer.kind === 'balance') {
    const { balancePaise, lastUpdatedMs } = answer;
    const last_updated = timestamp(lastUpdatedMs, dialect);
    return { status: 'success', data: { balance: toInr(balancePaise), currency: 'INR', last_updated } };
  }
  invariant(answer.kind === 'payout', 'a 200 shows a payout or a balance');
  return route === 'initiate' ? initiateBody(answer.payout, dialect) : statusBody(answer.payout, dialect);
}

function initiateBody(payout: Payout, dialect: Dialect): InitiateResponse {
  const data = {
    txn_id: payout.txnId,
    client_ref_id: payout.clientRefId,
    status: payout.state,
    amount: toInr(payout.amountPaise),
    utr: payout.utr,
    created_at: timestamp(payout.createdAtMs, dialect),
  };
  return { status: 'success', message: 'Payout initiated successfully', data };
}

function statusBody(payout: Payout, dialect: Dialect): StatusResponse {
  const { completedAtMs } = payout;
  const whilePending = dialect.status.completed_at_while_pending === 'absent' ? undefined : null;
  return {
    status: 'success',
    data: {
      txn_id: payout.txnId,
      client_ref_id: payout.clientRefId,
      status: payout.state,
      amount: toInr(payout.amountPaise),
      utr: payout.utr,
      beneficiary_name: payout.beneficiaryName,
      beneficiary_account: payout.beneficiaryAccount,
      created_at: timestamp(payout.createdAtMs, dialect),
      completed_at: completedAtMs === null ? whilePending : timestamp(completedAtMs, dialect),
    },
  };
}

import type { Dialect } from '../../contract/dialect.ts';
import type { RefusalData } from '../../contract/errors.ts';
import type { RouteName } from '../../contract/match.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import type { BalanceResponse, InitiateResponse, StatusResponse } from '../../contract/service-responses.ts';
import { invariant, toInr } from '../../payout/money.ts';
import type { Payout } from '../../payout/payout.ts';
import { replacesBody, type Effect, type Hold, type RequestFacts } from '../../scenario/rule.ts';
import { filledHeaders, fillingWith, type Filling } from '../../scenario/template.ts';
import type { SentResponse, StoredAnswer } from '../snapshot-lines.ts';
import { addHeaders, confined, ownResponse, refusalResponse, type Headers } from './other-responses.ts';

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
  /** The first response of its reference, again. */
  | { readonly kind: 'stored'; readonly stored: StoredAnswer }
  /** Nothing was done, and a rule's own answer replaces the normal one. There is no payout that its texts could name. */
  | { readonly kind: 'none' };

/** Whether it is what an earlier request of its reference led to. */
export const isReplayed = (answer: Answer): boolean =>
  answer.kind === 'stored' || (answer.kind === 'payout' && answer.replayed);

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
    const filling = fillingFor(effect, result, asked);
    return ownResponse(respond, effect.limitLeftMs, dialect, filling, headers);
  }
  if (answer.kind === 'refused') {
    return refusalResponse(answer.refusal, dialect, asked.requestId, headers);
  }
  if (isShown && isReplayed(answer)) headers['idempotent-replayed'] = 'true';
  if (answer.kind === 'stored') {
    const { response } = answer.stored;
    return { ...response, headers: { ...headers, ...response.headers } };
  }
  headers['content-type'] = JSON_TYPE;
  const body = answer.kind === 'none' ? '' : JSON.stringify(normalBody(result));
  if (effect === null || respond === null) return { status: 200, headers, body };
  addHeaders(headers, filledHeaders(respond.headers ?? {}, fillingFor(effect, result, asked)));
  return { status: respond.status, headers: confined(headers), body };
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

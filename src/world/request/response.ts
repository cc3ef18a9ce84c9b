import type { Payout, SentResponse } from '../../contract/snapshot.ts';
import type { Dialect } from '../../contract/dialect.ts';
import { InitiateRequest, JSON_TYPE, StatusQuery } from '../../contract/service.ts';
import type { RouteName } from '../../contract/match.ts';
import type { BalanceResponse, InitiateResponse, StatusResponse } from '../../contract/service-responses.ts';
import { invariant, toInr } from '../../payout/money.ts';
import { replacesBody } from '../../scenario/rule.ts';
import { filledHeaders, fillingWith, type Filling } from '../../scenario/template.ts';
import {
  fieldsOf,
  type Answer,
  type Decided,
  type KeptRequest,
  type SeenEffect,
} from '../journal/kept-request.ts';
import { addHeaders, ownResponse, refusalResponse, responseWith, type Headers } from './other-responses.ts';

/** The response to a request as text: made for the client, and again whenever somebody reads the journal. */

/** Whether it is what an earlier request of its reference led to. */
export const isReplayed = (answer: Answer): boolean =>
  answer.kind === 'stored' || (answer.kind === 'payout' && answer.replayed);

/** The text of the response that was sent, or is about to be; undefined for none. */
export function sentResponse(request: KeptRequest): SentResponse | undefined {
  const { response, method } = request;
  if (response !== 'planned') return response;
  const planned = responseOf(request as Decided);
  return method === 'HEAD' ? { ...planned, body: '' } : planned;
}

/** The whole response to a request of the service, as was decided. */
export function responseOf(request: Decided): SentResponse {
  const { answer, effect, dialect, requestId, warnings } = request;
  const headers: Headers = { 'x-sandbox-request-id': requestId };
  if (warnings !== undefined) headers['x-sandbox-warning'] = warnings.join('; ');
  if (effect !== null) headers['x-sandbox-rule'] = effect.rule;
  const respond = effect?.respond ?? null;
  if (effect !== null && respond !== null && replacesBody(respond)) {
    const filling = fillingFor(effect, request);
    return ownResponse(respond, effect.limitLeftMs, dialect, filling, headers);
  }
  if (answer.kind === 'refused') {
    return refusalResponse(answer.refusal, dialect, requestId, headers);
  }
  if (isReplayed(answer)) headers['idempotent-replayed'] = 'true';
  if (answer.kind === 'stored') {
    const { response } = answer.stored;
    return { ...response, headers: { ...headers, ...response.headers } };
  }
  headers['content-type'] = JSON_TYPE;
  const body = answer.kind === 'none' ? '' : JSON.stringify(normalBody(request));
  if (effect === null || respond === null) return { status: 200, headers, body };
  addHeaders(headers, filledHeaders(respond.headers ?? {}, fillingFor(effect, request)));
  return responseWith(respond.status, headers, body);
}

/** The fields of the payout API that a request of a route has. */
const FIELDS: Readonly<Record<RouteName, readonly string[]>> = {
  initiate: Object.keys(InitiateRequest.shape),
  status: Object.keys(StatusQuery.shape),
  balance: [],
};

/** What a text of a rule can name of its request, and of the payout that it made or found. */
function fillingFor({ nowMs }: SeenEffect, request: Decided): Filling {
  const { answer, attempt, dialect, requestId, route } = request;
  const fields = fieldsOf(request);
  return fillingWith({
    ...Object.fromEntries(FIELDS[route].map((name) => [name, fields[name]])),
    ...(answer.kind === 'payout' && initiateBody(answer.payout, dialect).data),
    attempt: attempt || null, // 0 where attempts are not counted
    now: timestamp(nowMs, dialect),
    request_id: requestId,
  });
}

/** ISO 8601 in UTC, with milliseconds or whole seconds. */
function timestamp(atMs: number, { answers }: Dialect): string {
  if (atMs !== latest.atMs) latest = { atMs, text: new Date(atMs).toISOString() };
  return answers.timestamps === 'seconds' ? latest.text.replace(/\.\d+/, '') : latest.text;
}
/** The latest timestamp, since many in a row are the same. */
let latest = { atMs: 0, text: '1970-01-01T00:00:00.000Z' };

/** The body of a 200, in the format of the payout API. */
function normalBody({
  route,
  answer,
  dialect,
}: Decided): InitiateResponse | StatusResponse | BalanceResponse {
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

import type { JournalEntry } from '../../contract/control-responses.ts';
import { iso } from '../../contract/times.ts';
import { BANK_CALENDAR } from '../../payout/calendar.ts';
import { toInr } from '../../payout/money.ts';
import { showsResponse, type RequestFacts } from '../../scenario/rule.ts';
import { isoOrNull } from '../transaction-response.ts';
import { sentResponse } from '../request/response.ts';
import { fieldsOf, readBody, type KeptRequest } from './kept-request.ts';

/** The facts that a match can test in a past request. */
export const factsOf = (request: KeptRequest): RequestFacts => ({
  route: request.route,
  fields: fieldsOf(request),
  headers: request.headers,
  attempt: request.attempt ?? 0,
  nowMs: request.atMs,
  payout: () => 0, // a journal does not know the last two, and no match of a verification tests them
  ageMs: 0,
  calendar: BANK_CALENDAR,
});

/** Whether a request made a payout; null for a request that cannot make one, or that never reached the ledger and was not answered. */
export const committed = ({ route, committed: isCommitted, response }: KeptRequest): boolean | null =>
  route === 'initiate' ? (isCommitted ?? (response === undefined ? null : false)) : null;

/** The HTTP status that the client was sent; undefined for none. */
export const seenStatus = (request: KeptRequest): number | undefined =>
  showsResponse(request.fault) && !request.waits ? sentResponse(request)?.status : undefined;

const inr = (paise: number | undefined): number | null => (paise === undefined ? null : toInr(paise));

/** A request in the terms of the control API. */
export function journalEntry(request: KeptRequest): JournalEntry {
  const { commit } = request;
  const sent = request.waits ? undefined : sentResponse(request);
  return {
    id: request.nth,
    request_id: request.requestId,
    at: iso(request.atMs),
    wall_at: iso(request.wallMs),
    outcome: request.outcome,
    route: request.route,
    request: {
      method: request.method,
      path: request.url,
      headers: request.headers,
      body: readBody(request.body),
    },
    answer: sent === undefined ? null : { ...sent, body: readBody(sent.body) },
    duration_ms: request.durationMs ?? null,
    ended_after: request.endedAfter ?? null,
    code: request.code ?? null,
    client_ref_id: request.clientRefId ?? null,
    txn_id: request.txnId ?? null,
    attempt: request.attempt || null,
    rule: request.rule ?? null,
    limit: request.limit ?? null,
    fault: request.fault ?? null,
    delay_ms: request.delayMs ?? null,
    committed: committed(request),
    commit: commit && {
      due: isoOrNull(commit.dueMs),
      after_requests: commit.requestsLeft,
      result: commit.result,
    },
    planned_by: request.plannedBy ?? null,
    replayed: request.replayed === true,
    warnings: [...(request.warnings ?? [])],
    cut: [...(request.cut ?? [])],
    balance_before: inr(request.balanceBeforePaise),
    balance_after: inr(request.balancePaise),
  };
}

import type { JournalEntry } from '../../contract/control-responses.ts';
import { iso } from '../../contract/times.ts';
import { BANK_CALENDAR } from '../../payout/calendar.ts';
import { toInr } from '../../payout/money.ts';
import { showsResponse, type RequestFacts } from '../../scenario/rule.ts';
import { isoOrNull } from '../transaction-response.ts';
import { sentResponse } from '../request/response.ts';
import { fieldsOf, readBody, type KeptRequest } from './kept-request.ts';

/** The facts that a match can test in a past request. */
export const factsOf = (exchange: KeptRequest): RequestFacts => ({
  route: exchange.route,
  fields: fieldsOf(exchange),
  headers: exchange.headers,
  attempt: exchange.attempt ?? 0,
  nowMs: exchange.atMs,
  payout: 0, // a journal does not know the last two, and no match of a verification tests them
  ageMs: 0,
  calendar: BANK_CALENDAR,
});

/** Whether a request made a payout; null for a request that cannot make one, or that never reached the ledger and was not answered. */
export const committed = ({ route, committed: isCommitted, response }: KeptRequest): boolean | null =>
  route === 'initiate' ? (isCommitted ?? (response === undefined ? null : false)) : null;

/** The HTTP status that the client was sent; undefined for none. */
export const seenStatus = (exchange: KeptRequest): number | undefined =>
  showsResponse(exchange.fault) && !exchange.waits ? sentResponse(exchange)?.status : undefined;

const inr = (paise: number | undefined): number | null => (paise === undefined ? null : toInr(paise));

/** An exchange in the terms of the control API. */
export function journalEntry(exchange: KeptRequest): JournalEntry {
  const { commit } = exchange;
  const sent = exchange.waits ? undefined : sentResponse(exchange);
  return {
    id: exchange.nth,
    request_id: exchange.requestId,
    at: iso(exchange.atMs),
    wall_at: iso(exchange.wallMs),
    outcome: exchange.outcome,
    route: exchange.route,
    request: {
      method: exchange.method,
      path: exchange.url,
      headers: exchange.headers,
      body: readBody(exchange.body),
    },
    answer: sent === undefined ? null : { ...sent, body: readBody(sent.body) },
    duration_ms: exchange.durationMs ?? null,
    ended_after: exchange.endedAfter ?? null,
    code: exchange.code ?? null,
    client_ref_id: exchange.clientRefId ?? null,
    txn_id: exchange.txnId ?? null,
    attempt: exchange.attempt || null,
    rule: exchange.rule ?? null,
    limit: exchange.limit ?? null,
    fault: exchange.fault ?? null,
    delay_ms: exchange.delayMs ?? null,
    committed: committed(exchange),
    commit: commit && {
      due: isoOrNull(commit.dueMs),
      after_requests: commit.requestsLeft,
      result: commit.result,
    },
    planned_by: exchange.plannedBy ?? null,
    replayed: exchange.replayed === true,
    warnings: [...(exchange.warnings ?? [])],
    cut: [...(exchange.cut ?? [])],
    balance_before: inr(exchange.balanceBeforePaise),
    balance_after: inr(exchange.balancePaise),
  };
}

import { withoutKeys, type RequestHeaders } from '../../contract/service.ts';
import type { JournalEntry } from '../../contract/control-answers.ts';
import { isTooNested } from '../../contract/nesting.ts';
import type { RouteName } from '../../contract/match.ts';
import { toInr } from '../../payout/money.ts';
import { showsAnswer, type RequestFacts } from '../../scenario/rule.ts';
import { iso } from '../events.ts';

/** The state of an exchange: not answered so far, answered, broken by a fault that a rule ordered, or abandoned by the client. */
export type ExchangeOutcome = 'pending' | 'answered' | 'fault' | 'client_gone';

/** What was answered, or would have been but for a fault. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/**
 * One request to a world, and its answer. It records what is known at one moment: while the exchange goes on, newer
 * records replace it in the journal.
 */
export interface Exchange {
  /** Which request of its world it is, counted from 1; 0 for a request outside the journal. */
  readonly nth: number;
  readonly requestId: string;
  readonly method: string;
  readonly url: string;
  /** Without keys. */
  readonly headers: RequestHeaders;
  /** World time and wall time at which it came, ms since the epoch. */
  readonly atMs: number;
  readonly wallMs: number;
  readonly outcome: ExchangeOutcome;
  readonly worldId: string | undefined;
  readonly route: RouteName | undefined;
  /** The body as it came. */
  readonly body: string | undefined;
  /** Which attempt of its reference it is, from 1; 0 where attempts are not counted. */
  readonly attempt: number | undefined;
  readonly answer: Answered | undefined;
  readonly durationMs: number | undefined;
  /** The newest request of its world that had begun when this one ended; the journal sets it. */
  readonly endedAfter?: number | undefined;
  readonly balanceBeforePaise: number | undefined;
  readonly balancePaise: number | undefined;
  readonly code: string | undefined;
  readonly clientRefId: string | undefined;
  readonly txnId: string | undefined;
  readonly account: string | undefined;
  readonly replayed: boolean | undefined;
  readonly warnings: readonly string[] | undefined;
  /** The setting whose limit refused the request. */
  readonly limit: string | undefined;
  /** `scenario/rule`, when a rule made the answer. */
  readonly rule: string | undefined;
  /** Whether the payout happened, for a request to which a rule was applied. */
  readonly committed: boolean | undefined;
  /** What decided the timeline of the payout that it made. */
  readonly plannedBy: string | undefined;
  readonly delayMs: number | undefined;
  readonly fault: string | undefined;
}

/**
 * An exchange with its place among the requests of its world, once it has ended. Later knowledge does not change its place.
 *
 * @param before what was known of it
 * @param asked the newest request of its world that has begun
 */
export function placed(exchange: Exchange, before: Exchange | undefined, asked: number): Exchange {
  if (exchange.outcome === 'pending') return exchange;
  const isSameEnd = before?.endedAfter !== undefined && before.durationMs === exchange.durationMs;
  return { ...exchange, endedAfter: isSameEnd ? before.endedAfter : asked };
}

/** A text parsed as JSON if that can be written back, otherwise as it is; null for none. */
export function readBody(text: string | undefined): unknown {
  if (text === undefined || text === '') return null;
  if (isTooNested(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function fieldsOf({ route, url, body }: Exchange): RequestFacts['fields'] {
  if (route === 'initiate') {
    const read = readBody(body);
    return typeof read === 'object' && read !== null ? (read as RequestFacts['fields']) : {};
  }
  const query = url.indexOf('?');
  return query === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(query)));
}

/** The facts that a match can test in a past request. */
export const factsOf = (exchange: Exchange): RequestFacts => ({
  route: exchange.route ?? 'initiate',
  fields: fieldsOf(exchange),
  headers: exchange.headers,
  attempt: exchange.attempt ?? 0,
  nowMs: exchange.atMs,
  payout: 0, // a journal does not know the last two, and no match of a verification tests them
  ageMs: 0,
});

/** Whether a request made a payout; null for a request that cannot make one, or is still pending. */
export function committed({
  route,
  committed: underRule,
  replayed,
  answer,
  txnId,
}: Exchange): boolean | null {
  if (route !== 'initiate') return null;
  if (underRule !== undefined) return underRule;
  return answer === undefined ? null : txnId !== undefined && replayed !== true && answer.status === 200;
}

/** The HTTP status that the client was sent; undefined for none. */
export const seenStatus = ({ answer, fault }: Exchange): number | undefined =>
  showsAnswer(fault) ? answer?.status : undefined;

const inr = (paise: number | undefined): number | null => (paise === undefined ? null : toInr(paise));

/** An exchange in the terms of the control API. */
export const journalEntry = (exchange: Exchange): JournalEntry => ({
  id: exchange.nth,
  request_id: exchange.requestId,
  at: iso(exchange.atMs),
  wall_at: iso(exchange.wallMs),
  outcome: exchange.outcome,
  route: exchange.route ?? null,
  request: {
    method: exchange.method,
    path: exchange.url,
    headers: withoutKeys(exchange.headers),
    body: readBody(exchange.body),
  },
  answer: exchange.answer === undefined ? null : { ...exchange.answer, body: readBody(exchange.answer.body) },
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
  planned_by: exchange.plannedBy ?? null,
  replayed: exchange.replayed === true,
  warnings: [...(exchange.warnings ?? [])],
  balance_before: inr(exchange.balanceBeforePaise),
  balance_after: inr(exchange.balancePaise),
});

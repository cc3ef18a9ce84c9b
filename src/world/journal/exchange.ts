import type { JournalEntry } from '../../contract/control-responses.ts';
import type { RouteName } from '../../contract/match.ts';
import { isTooNested, isWholePaise, MAX_AMOUNT_INR, State } from '../../contract/service.ts';
import type { SentResponse, StoredRequest } from '../snapshot-lines.ts';
import { toInr, toPaise } from '../../payout/money.ts';
import { showsResponse, type RequestFacts } from '../../scenario/rule.ts';
import { iso } from '../../contract/instant.ts';
import { responseOf, type RequestResult } from '../request/response.ts';

export type ExchangeOutcome = StoredRequest['outcome'];

/** One request of a world and its response, as the world remembers it. It is replaced as a whole when it changes. */
export interface Exchange extends Omit<StoredRequest, 'response'> {
  /** What was sent, or will be; `planned` for what its result describes, whose text is made when somebody reads it. Absent for nothing. */
  readonly response?: SentResponse | 'planned' | undefined;
  /** What the world decided; absent for a request that never reached the ledger, and for one from a snapshot. */
  readonly result?: RequestResult | undefined;
  /** See `requestCharacters`: it never changes. */
  readonly requestCharacters: number;
  /** The command that brought it, by its place among those of its world, and the server that had its connection; 0 and none for one from a snapshot. */
  readonly position: number;
  readonly server: string;
}

export type Decided = Exchange & { readonly result: RequestResult };

/** The requests that a world had: bounded, the newest are kept. */
export interface Requests {
  count: number;
  /** The newest, the oldest of them first. */
  readonly list: Exchange[];
  /** Those under way, also if they were dropped from the list: their ends say what their clients know. */
  readonly pending: Exchange[];
  /** How many were dropped from the list since it was last cleared. */
  evicted: number;
  characters: number;
}

export const noRequests = (count = 0): Requests => ({
  count,
  list: [],
  pending: [],
  evicted: 0,
  characters: 0,
});

/** The text of the response that was sent, or is about to be; undefined for none. */
export function sentResponse(exchange: Exchange): SentResponse | undefined {
  const { method, response, result } = exchange;
  if (response !== 'planned') return response;
  const planned = responseOf(result!, { ...exchange, fields: fieldsOf(exchange) });
  return method === 'HEAD' ? { ...planned, body: '' } : planned;
}

/** A number that may be too large for JavaScript, which JSON would write as null. */
const HUGE_NUMBER = /e\+?\d{3}|\d{200}/i;

/** A text parsed as JSON if that can be written back, otherwise as it is; null for none. */
export function readBody(text: string | undefined): unknown {
  if (text === undefined || text === '') return null;
  if (isTooNested(text)) return text;
  try {
    let isFinite = true;
    const check = (_name: string, value: unknown): unknown => {
      if (value === Infinity || value === -Infinity) isFinite = false;
      return value;
    };
    const value = JSON.parse(text, HUGE_NUMBER.test(text) ? check : undefined) as unknown;
    return isFinite ? value : text;
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
  route: exchange.route,
  fields: fieldsOf(exchange),
  headers: exchange.headers as RequestFacts['headers'],
  attempt: exchange.attempt ?? 0,
  nowMs: exchange.atMs,
  payout: 0, // a journal does not know the last two, and no match of a verification tests them
  ageMs: 0,
});

/** Whether a request made a payout; null for a request that cannot make one, or that never reached the ledger and was not answered. */
export const committed = ({ route, committed: isCommitted, response }: Exchange): boolean | null =>
  route === 'initiate' ? (isCommitted ?? (response === undefined ? null : false)) : null;

/** The HTTP status that the client was sent; undefined for none. */
export const seenStatus = (exchange: Exchange): number | undefined =>
  showsResponse(exchange.fault) && !exchange.waits ? sentResponse(exchange)?.status : undefined;

/** About how many characters an exchange has, as the limit on them counts it: the same before a snapshot and after it. */
export const charactersOf = (exchange: Exchange): number =>
  exchange.requestCharacters + Math.max(0, responseLength(exchange) - USUAL_RESPONSE);

/** About how many characters a request has. */
export function requestCharacters({
  url,
  headers,
  body = '',
}: Pick<Exchange, 'url' | 'headers' | 'body'>): number {
  let characters = CHARACTERS_EACH + url.length + body.length;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue; // as in a snapshot, which leaves it out
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    characters += CHARACTERS_A_HEADER + name.length + text.length;
  }
  return characters;
}

/** What a request, and each of its headers, takes in addition to its texts. */
const CHARACTERS_A_HEADER = 64;
const CHARACTERS_EACH = 1000;
/** No normal response and no refusal has more characters than this. Those do not count, so that they need not be made. */
const USUAL_RESPONSE = 4000;

function responseLength(exchange: Exchange): number {
  const { response, result } = exchange;
  const respond = result?.effect?.respond;
  const isUsual = respond?.body === undefined && respond?.message === undefined;
  return response === 'planned' && isUsual ? 0 : (sentResponse(exchange)?.body.length ?? 0);
}

const inr = (paise: number | undefined): number | null => (paise === undefined ? null : toInr(paise));

/** An exchange in the terms of the control API. */
export function journalEntry(exchange: Exchange): JournalEntry {
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
    planned_by: exchange.plannedBy ?? null,
    replayed: exchange.replayed === true,
    warnings: [...(exchange.warnings ?? [])],
    balance_before: inr(exchange.balanceBeforePaise),
    balance_after: inr(exchange.balancePaise),
  };
}

/** What a client learns from the response to one request. */
export type Seen =
  /** No whole response, a 3xx, 408 or 5xx, or a 2xx without the promised JSON: the payout may have happened or not. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'state'; readonly state: State }
  | { readonly kind: 'refused' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'balance'; readonly paise: number }
  /** The request is still under way. */
  | { readonly kind: 'nothing' };

interface SeenResponse {
  readonly route: RouteName | null;
  /** HTTP status; null when no whole response came. */
  readonly status: number | null;
  readonly code: string | null;
  readonly body: unknown;
  /** The headers of the request. */
  readonly asked: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a value from an untrusted response is a possible amount. */
export const isMoney = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_AMOUNT_INR && isWholePaise(value);

/** Without a body for the client, whatever a rule or a dialect says (204, 205), and the timeout of something in between (408). */
const SAY_NOTHING: ReadonlySet<number> = new Set([204, 205, 408]);

/** What a client learns from a response. The referee and the `told` of a payout both use this. */
export function seenIn({ route, status, code, body, asked }: SeenResponse): Seen {
  // whoever asks for the rest of a response that broke off cannot use a whole one, and throws it away
  if (route === 'initiate' && asked['range'] !== undefined && status === 200) return { kind: 'unknown' };
  if (status === null || status >= 500 || SAY_NOTHING.has(status)) return { kind: 'unknown' };
  if (route === 'status' && (status === 404 || code === 'TRANSACTION_UNKNOWN')) return { kind: 'not-found' };
  if (status >= 400) return { kind: 'refused' };
  if (status >= 300) return { kind: 'unknown' }; // a redirect that was followed is another request
  const data = isObject(body) && isObject(body['data']) ? body['data'] : {};
  if (route === 'balance') {
    const { balance } = data;
    return isMoney(balance) ? { kind: 'balance', paise: toPaise(balance) } : { kind: 'unknown' };
  }
  const state = State.safeParse(data['status']);
  return state.success ? { kind: 'state', state: state.data } : { kind: 'unknown' };
}

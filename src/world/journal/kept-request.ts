import type { Payout, SentResponse, StoredAnswer, StoredRequest } from '../../contract/snapshot.ts';
import type { Dialect } from '../../contract/dialect.ts';
import type { RefusalData } from '../../contract/errors.ts';
import type { RouteName } from '../../contract/match.ts';
import {
  hasInexactAmount,
  InitiateRequest,
  isTooNested,
  isWholePaise,
  MAX_AMOUNT_INR,
  State,
} from '../../contract/service.ts';
import { toPaise } from '../../payout/money.ts';
import type { Effect, Hold, RequestFacts } from '../../scenario/rule.ts';

export type RequestOutcome = StoredRequest['outcome'];

/** One request of a world and its response, as the world remembers it. It is replaced as a whole when it changes. */
export interface KeptRequest extends Omit<StoredRequest, 'response'>, PossibleDecision {
  /** What was sent, or will be; `planned` for what was decided, whose text is made when somebody reads it. Absent for nothing. */
  readonly response?: SentResponse | 'planned' | undefined;
  /** The command that brought it, by its place among those of its world, and the server that had its connection; 0 and none for one from a snapshot. */
  readonly position: number;
  readonly server: string;
}

/** What the world decided: nothing for a request that never reached it, and for one from a snapshot. */
interface Decision {
  /** The dialect of the response. */
  readonly dialect: Dialect;
  readonly answer: Answer;
  /** How a rule changes what the client sees; null for the normal response. */
  readonly effect: SeenEffect | null;
  /** Set when a rule holds the request. While it has only arrived, nothing was done and the response is `none`. */
  readonly hold?: (Hold & { readonly id: number }) | undefined;
}

type PossibleDecision = { readonly [Name in keyof Decision]?: Decision[Name] | undefined };
export type Decided = KeptRequest & Decision;

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

/** The requests that a world had: bounded, the newest are kept. */
export interface Requests {
  count: number;
  /** The newest, the oldest of them first. */
  readonly list: KeptRequest[];
  /** Those under way, also if they were dropped from the list: their ends say what their clients know. */
  readonly pending: KeptRequest[];
  /** How many were dropped from the list since it was last cleared. */
  evicted: number;
}

export const noRequests = (count = 0): Requests => ({ count, list: [], pending: [], evicted: 0 });

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
    return isFinite && !hasInexactAmount(text) ? value : text;
  } catch {
    return text;
  }
}

/** What a past request asked for. */
export function fieldsOf({ route, url, body }: KeptRequest): RequestFacts['fields'] {
  if (route === 'initiate') {
    const read = readBody(body);
    return typeof read === 'object' && read !== null ? (read as RequestFacts['fields']) : {};
  }
  const query = url.indexOf('?');
  return query === -1 ? {} : Object.fromEntries(new URLSearchParams(url.slice(query)));
}

/** How much of the body and of the headers of a request its world keeps, in characters. */
const MOST_BODY = 8 * 1024;
const MOST_HEADERS = 4 * 1024;

/** The headers of a request that its world keeps: those that fit. */
export function keptHeaders(headers: KeptRequest['headers']): KeptRequest['headers'] {
  let length = 0;
  for (const name in headers) length += headerLength(name, headers[name]);
  if (length <= MOST_HEADERS) return headers;
  let room = MOST_HEADERS;
  const isKept = ([name, value]: readonly [string, unknown]): boolean => {
    const needed = headerLength(name, value);
    if (needed > room) return false;
    room -= needed;
    return true;
  };
  return Object.fromEntries(Object.entries(headers).filter(isKept));
}

const headerLength = (name: string, value: unknown): number =>
  name.length + (typeof value === 'string' ? value.length : JSON.stringify(value ?? '').length);

/** A text of its own, which keeps no longer one alive. */
const ownText = (text: string): string => Buffer.from(text).toString();

/** How many characters one may have as JSON: `\u0001`. */
const LONGEST_ESCAPE = 6;

/** The body of a request that its world keeps: of a long one the fields of the interface, if it has them, else its beginning. */
export function keptBody(body: string | undefined): string | undefined {
  if (body === undefined || body.length <= MOST_BODY) return body;
  const read = readBody(body);
  if (isObject(read)) {
    const { remarks, ...fields } = Object.fromEntries(
      Object.keys(InitiateRequest.shape).flatMap((name) => (name in read ? [[name, read[name]]] : [])),
    );
    const room = MOST_BODY - JSON.stringify({ ...fields, remarks: '' }).length;
    const length = Math.floor(Math.max(0, room) / LONGEST_ESCAPE);
    const kept = typeof remarks === 'string' ? { ...fields, remarks: remarks.slice(0, length) } : fields;
    const text = JSON.stringify(kept);
    if (text.length <= MOST_BODY) return ownText(text);
  }
  return ownText(body.slice(0, MOST_BODY));
}

/** What a client learns from the response to one request. */
export type Seen =
  /**
   * No whole response, a 3xx, 408 or 5xx, a 2xx without the promised JSON, or the refusal of a repetition whose first request is
   * still under way: the payout may have happened or not.
   */
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
  if (code === 'REQUEST_IN_PROGRESS') return { kind: 'unknown' }; // the first request may still pay
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

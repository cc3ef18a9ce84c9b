import { isWholePaise, MAX_AMOUNT_INR, State } from '../../contract/service.ts';
import type { RouteName } from '../../contract/match.ts';
import { toPaise } from '../../payout/money.ts';

/** What a client learns from the response to one request. */
export type Seen =
  /** No whole response, a 5xx, or a 2xx without the promised JSON: the payout may have happened or not. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'state'; readonly state: State }
  | { readonly kind: 'refused' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'balance'; readonly paise: number }
  /** The request is still under way. */
  | { readonly kind: 'nothing' };

interface Response {
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

/** What a client learns from a response. The referee and the `told` of a payout both use this. */
export function seenIn({ route, status, code, body, asked }: Response): Seen {
  // whoever asks for the rest of a response that broke off cannot use a whole one, and throws it away
  if (route === 'initiate' && asked['range'] !== undefined && status === 200) return { kind: 'unknown' };
  if (status === null || status >= 500) return { kind: 'unknown' };
  if (route === 'status' && (status === 404 || code === 'TRANSACTION_UNKNOWN')) return { kind: 'not-found' };
  if (status >= 300) return { kind: 'refused' };
  const data = isObject(body) && isObject(body['data']) ? body['data'] : {};
  if (route === 'balance') {
    const { balance } = data;
    return isMoney(balance) ? { kind: 'balance', paise: toPaise(balance) } : { kind: 'unknown' };
  }
  const state = State.safeParse(data['status']);
  return state.success ? { kind: 'state', state: state.data } : { kind: 'unknown' };
}

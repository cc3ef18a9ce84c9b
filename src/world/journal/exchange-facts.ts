import { isTooNested } from '../../contract/nesting.ts';
import type { RequestFacts } from '../../scenario/rule.ts';
import type { Exchange, RequestHeaders } from './exchange.ts';

/** Headers that hold a key. */
const SECRET_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-api-key',
]);

const REDACTED = '***';

/** The headers of a request without the keys in them. */
export function withoutKeys(headers: RequestHeaders): RequestHeaders {
  const shown: Record<string, RequestHeaders[string]> = {};
  for (const name in headers) shown[name] = SECRET_HEADERS.has(name) ? REDACTED : headers[name];
  return shown;
}

/** A text as what it says where it is JSON that can be written again, else as it is; null for none. */
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

/** What a match can look at in a request that has been. */
export const factsOf = (exchange: Exchange): RequestFacts => ({
  route: exchange.route ?? 'initiate',
  fields: fieldsOf(exchange),
  headers: exchange.headers,
  attempt: exchange.attempt ?? 0,
  nowMs: exchange.atMs,
});

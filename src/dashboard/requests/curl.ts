import type { JournalEntry } from '../../contract/control-responses.ts';

interface CurlRequest {
  readonly method: string;
  readonly url: string;
  readonly apiKey: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
}

/** Quotes a text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A call as a curl command. */
export function curlOf({ method, url, apiKey, headers = {}, body = null }: CurlRequest): string {
  const words = [
    method === 'GET' ? `curl -sS ${quoted(url)}` : `curl -sS -X ${method} ${quoted(url)}`,
    `-H ${quoted(`Authorization: Bearer ${apiKey}`)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return words.join(' \\\n  ');
}

const RELEVANT_HEADERS = new Set(['content-type', 'x-sandbox-scenario']);

/** The request headers that can change the response. */
export const relevantHeaders = ({ headers }: JournalEntry['request']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      RELEVANT_HEADERS.has(name) ? [[name, String(value)]] : [],
    ),
  );

/** A curl command that sends a request of the journal again. */
export function curlOfRequest({ request }: JournalEntry, url: string, apiKey: string): string {
  const { method, path, body } = request;
  return curlOf({
    method,
    url: url + path,
    apiKey,
    headers: relevantHeaders(request),
    body: body === null ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
}

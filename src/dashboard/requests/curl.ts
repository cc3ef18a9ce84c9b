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

export function curlOf({ method, url, apiKey, headers = {}, body = null }: CurlRequest): string {
  const words = [
    method === 'GET' ? `curl -sS ${quoted(url)}` : `curl -sS -X ${method} ${quoted(url)}`,
    `-H ${quoted(`Authorization: Bearer ${apiKey}`)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return words.join(' \\\n  ');
}

/** The body of a request of the journal, as it was sent; null if it had none. */
const bodyText = ({ body }: JournalEntry['request']): string | null =>
  body === null || typeof body === 'string' ? body : JSON.stringify(body);

/** A curl command that sends a request of the journal again. */
export function curlOfRequest({ request }: JournalEntry, url: string, apiKey: string): string {
  const { method, path } = request;
  const { 'content-type': type } = request.headers; // the only header that can change the response
  const headers = typeof type === 'string' ? { 'content-type': type } : {};
  return curlOf({ method, url: url + path, apiKey, headers, body: bodyText(request) });
}

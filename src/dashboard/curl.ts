import type { JournalEntry } from '../contract/control-answers.ts';

interface Call {
  readonly method: string;
  readonly url: string;
  readonly apiKey: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | null;
}

/** A word for a shell that takes it as it is. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A call as a command to be pasted. */
export function curlOf({ method, url, apiKey, headers = {}, body = null }: Call): string {
  const words = [
    method === 'GET' ? `curl -sS ${quoted(url)}` : `curl -sS -X ${method} ${quoted(url)}`,
    `-H ${quoted(`Authorization: Bearer ${apiKey}`)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === null ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return words.join(' \\\n  ');
}

/** What of a request's headers makes a difference to its answer. */
const TELLING = new Set(['content-type', 'x-sandbox-scenario']);

/** A request of the journal as a command that sends the same again. */
export function curlOfRequest({ request }: JournalEntry, url: string, apiKey: string): string {
  const { method, path, headers, body } = request;
  return curlOf({
    method,
    url: url + path,
    apiKey,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        TELLING.has(name) ? [[name, String(value)]] : [],
      ),
    ),
    body: body === null ? null : typeof body === 'string' ? body : JSON.stringify(body),
  });
}

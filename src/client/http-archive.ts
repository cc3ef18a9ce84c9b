import type { JournalEntry } from '../contract/control-responses.ts';

/** An HTTP Archive (HAR 1.2). */
export type HttpArchive = ReturnType<typeof httpArchive>;

type NameValue = Readonly<Record<'name' | 'value', string>>;

/** -1: the size is not known. */
const MESSAGE = { httpVersion: 'HTTP/1.1', cookies: [] as NameValue[], headersSize: -1 };

const textOf = (body: unknown): string =>
  body === null ? '' : typeof body === 'string' ? body : JSON.stringify(body);

const sizeOf = (text: string): number => new TextEncoder().encode(text).length;

const headersOf = (headers: Readonly<Record<string, unknown>>): readonly NameValue[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => ({ name, value: String(one) })),
  );

const typeIn = (headers: readonly NameValue[]): string =>
  headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value ?? '';

function requestOf({ request: { method, path, ...sent } }: JournalEntry, url: string) {
  const headers = headersOf(sent.headers);
  const text = textOf(sent.body);
  const queryString = [...new URL(path, url).searchParams].map(([name, value]) => ({ name, value }));
  const postData = text === '' ? {} : { postData: { mimeType: typeIn(headers), text } };
  return { ...MESSAGE, method, url: url + path, headers, queryString, bodySize: sizeOf(text), ...postData };
}

/** The reason for the response, for which an archive has no field. */
function commentOf({ id, at, outcome, rule, limit, fault, committed }: JournalEntry): string {
  const made = committed ? 'payout made' : null;
  const reasons = [`#${id} at world time ${at}`, outcome, rule, limit, fault, made];
  return reasons.filter((reason) => reason !== null).join('; ');
}

function entryOf(entry: JournalEntry, url: string) {
  const { outcome, answer, duration_ms: time, wall_at: startedDateTime } = entry;
  const seen = outcome === 'answered' ? answer : null;
  const headers = headersOf(seen?.headers ?? {});
  const text = textOf(seen?.body ?? null);
  return {
    startedDateTime,
    time: time ?? 0,
    request: requestOf(entry, url),
    response: {
      ...MESSAGE,
      status: seen?.status ?? 0, // 0 for a request that got no whole response
      statusText: '',
      headers,
      content: { size: sizeOf(text), mimeType: typeIn(headers) || 'x-unknown', text },
      redirectURL: '',
      bodySize: sizeOf(text),
    },
    cache: {},
    timings: { send: 0, wait: time ?? 0, receive: 0 },
    comment: commentOf(entry),
  };
}

/** A journal as an archive. A response that the client did not get whole is not in it, since an archive cannot say what was lost. */
export const httpArchive = (entries: readonly JournalEntry[], url: string, version: string) => ({
  log: {
    version: '1.2' as const,
    creator: { name: 'payout-sandbox', version },
    pages: [],
    entries: entries.map((entry) => entryOf(entry, url)),
  },
});

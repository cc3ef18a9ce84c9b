import { z } from 'zod';
import type { JournalEntry } from '../contract/control-responses.ts';
import { UsageError } from '../contract/usage-error.ts';
import { readBody, seenIn } from '../world/journal/exchange.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import { groupedBy, type OtherRequests } from './case.ts';
import { counted } from './reports/summary.ts';

/** HTTP Archive 1.2, as browsers, Playwright and proxies write it: only the parts that the referee needs. */

const Headers = z.array(z.object({ name: z.string(), value: z.string() })).default([]);

const DAY_MS = 86_400_000;

/** Whether a text is a time that a journal can have: one of a year with four digits. */
const isTime = (text: string): boolean => {
  const atMs = Date.parse(text);
  return !Number.isNaN(atMs) && /^\d{4}-/.test(new Date(atMs).toISOString());
};

const HarEntry = z.object({
  startedDateTime: z.string().refine(isTime, 'must be a time such as 2026-01-15T10:30:00.000Z'),
  time: z.number().max(DAY_MS),
  request: z.object({
    method: z.string(),
    url: z.string().refine((url) => URL.canParse(url), 'must be an absolute URL'),
    headers: Headers,
    bodySize: z.number().catch(-1), // -1 where it is not known
    postData: z.object({ text: z.string().default('') }).optional(),
  }),
  response: z.object({
    status: z.int(),
    headers: Headers,
    content: z
      .object({
        text: z.string().optional(),
        encoding: z.string().optional(),
        size: z.number().default(0), // -1 where it is not known
        _file: z.string().optional(), // where Playwright has put the body
      })
      .default({ size: 0 }),
  }),
});
type HarEntry = z.infer<typeof HarEntry>;

/** What every entry must have; of those of other services, no more is read than what kind of thing they got. */
const AnyRequest = z.looseObject({ method: z.string(), url: z.string() });
const AnyEntry = z.looseObject({ request: AnyRequest });
const Typed = z.object({ response: z.object({ content: z.object({ mimeType: z.string() }) }) });
const Har = z.object({
  log: z.object({
    creator: z.object({ name: z.string() }).optional().catch(undefined),
    entries: z.array(AnyEntry),
  }),
});

const ROUTES = [
  ['/payout/initiate', 'POST', 'initiate'],
  ['/payout/status', 'GET', 'status'],
  ['/client/fetchbalance', 'GET', 'balance'],
] as const;

const PATHS = ROUTES.map(([path]) => path)
  .join(', ')
  .replace(/, ([^,]+)$/, ' or $1');

const routeOf = ({ method, url }: z.infer<typeof AnyRequest>): JournalEntry['route'] => {
  const [path] = url.split(/[?#]/, 1) as [string];
  return ROUTES.find(([end, verb]) => path.endsWith(end) && verb === method)?.[2] ?? null;
};

function contentOf({ text, encoding, size, _file: file }: HarEntry['response']['content']): unknown {
  if (text === undefined) {
    // bodies that were not recorded would look like broken responses, and the client would be blamed
    if (size > 0 || file !== undefined)
      throw new UsageError('its responses have no bodies: record it with their content');
    return null;
  }
  return readBody(encoding === 'base64' ? new TextDecoder().decode(Buffer.from(text, 'base64')) : text);
}

const headersOf = (headers: HarEntry['request']['headers']): Record<string, string> =>
  Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value]));

/** Whether this is a send with a body that was not recorded, or may have been. */
function lacksBody({ request }: HarEntry): boolean {
  if (routeOf(request) !== 'initiate' || request.postData?.text) return false;
  const sizes = [request.bodySize, Number(headersOf(request.headers)['content-length'] ?? -1)];
  return sizes.some((size) => size > 0) || !sizes.includes(0);
}

type Texts = Readonly<Record<string, unknown>>;

const textIn = (value: unknown, field: string): string | null => {
  const text = (value as Texts | null)?.[field];
  return typeof text === 'string' ? text : null;
};

function entryOf({ startedDateTime, time, request, response }: HarEntry, id: number): JournalEntry {
  const route = routeOf(request);
  const at = new Date(Date.parse(startedDateTime)).toISOString();
  const body = readBody(request.postData?.text);
  const url = new URL(request.url);
  const isAnswered = response.status > 0; // 0: the client aborted, or the connection broke
  const answer = isAnswered
    ? { status: response.status, headers: headersOf(response.headers), body: contentOf(response.content) }
    : null;
  const data = (answer?.body as Texts | null)?.['data'];
  const asked = route === 'initiate' ? textIn(body, 'client_ref_id') : url.searchParams.get('client_ref_id');
  const isPaid = response.status >= 200 && response.status < 300;
  const code = textIn(answer?.body, 'code');
  const seen = seenIn({ route, status: answer?.status ?? null, code, body: answer?.body, asked: {} });
  return {
    id,
    request_id: `har-${id}`,
    at,
    wall_at: at,
    outcome: isAnswered ? 'answered' : 'client_gone',
    route,
    request: {
      method: request.method,
      path: url.pathname + url.search,
      headers: headersOf(request.headers),
      body,
    },
    answer,
    duration_ms: Math.max(time, 0), // -1 where it is not known
    ended_after: null, // a HAR has only times
    code,
    client_ref_id: asked ?? textIn(data, 'client_ref_id'),
    txn_id: textIn(data, 'txn_id') ?? url.searchParams.get('txn_id'),
    attempt: null,
    rule: null,
    limit: null,
    fault: null,
    delay_ms: null,
    committed: route !== 'initiate' || seen.kind === 'unknown' ? null : isPaid,
    planned_by: null,
    replayed: false,
    warnings: [],
    balance_before: null,
    balance_after: null,
  };
}

/** An initiate that was answered with the txn_id of an earlier one made no payout. */
function withReplays(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const made = new Set<string>();
  return entries.map((entry) => {
    const { committed, txn_id } = entry;
    if (committed !== true || txn_id === null) return entry;
    if (made.has(txn_id)) return { ...entry, committed: false, replayed: true };
    made.add(txn_id);
    return entry;
  });
}

/** A send without a response made a payout if a later read shows one that no other send made. */
function withFoundPayouts(entries: readonly JournalEntry[]): readonly JournalEntry[] {
  const sends = groupedBy(
    entries.filter(({ route }) => route === 'initiate'),
    ({ client_ref_id }) => client_ref_id,
  );
  const found = new Map<JournalEntry, JournalEntry>();
  for (const read of entries) {
    const { route, client_ref_id, txn_id, answer } = read;
    const isFound = textIn((answer?.body as Texts | null)?.['data'], 'status') !== null;
    if (route !== 'status' || client_ref_id === null || !isFound) continue;
    const earlier = (sends.get(client_ref_id) ?? []).filter(({ id }) => id < read.id);
    const made = earlier.map((send) => found.get(send) ?? send).filter(({ committed }) => committed === true);
    if (made.some((send) => send.txn_id === null || txn_id === null || send.txn_id === txn_id)) continue;
    const open = earlier.find((send) => send.committed === null && !found.has(send));
    if (open !== undefined) found.set(open, { ...open, committed: true, txn_id });
  }
  return entries.map((entry) => found.get(entry) ?? entry);
}

/** @param entry what may be a HAR entry @param index its place in the file @throws UsageError */
function checkedEntry(entry: unknown, index: number): HarEntry {
  const { data, error } = HarEntry.safeParse(entry);
  if (error === undefined) return data;
  const [{ path, message }] = error.issues as [z.core.$ZodIssue];
  throw new UsageError(`log.entries.${[index, ...path].join('.')} is not valid in a HAR: ${message}`);
}

/** What a browser loads to show a page. */
const PART_OF_A_PAGE = /^(?:image|font|audio|video)\/|html|css|javascript|wasm/;

/** Whether a request to another path can be neither a payout nor a read of one. */
function isOfNoPayout(entry: z.infer<typeof AnyEntry>): boolean {
  const { method } = entry.request;
  if (method !== 'GET') return method === 'HEAD' || method === 'OPTIONS';
  return PART_OF_A_PAGE.test(Typed.safeParse(entry).data?.response.content.mimeType ?? '');
}

const MOST_PATHS = 5;
const LONGEST_PATH = 100;

/** The requests that are to other paths; undefined for none. */
function othersIn(all: readonly z.infer<typeof AnyEntry>[]): OtherRequests | undefined {
  const others = all.filter(({ request }) => routeOf(request) === null);
  if (others.length === 0) return undefined;
  const named = groupedBy(others, ({ request: { method, url } }) => {
    const path = URL.canParse(url) ? new URL(url).pathname : url;
    return `${method} ${path}`.slice(0, LONGEST_PATH);
  });
  const paths = [...named].toSorted(([, a], [, b]) => b.length - a.length);
  const shown = paths
    .slice(0, MOST_PATHS)
    .map(([name, { length }]) => withoutControls(length === 1 ? name : `${name} (${length})`));
  const more = paths.length - shown.length;
  const text = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  const were = others.length === 1 ? 'is to another path and was' : 'are to other paths and were';
  return {
    note: `${others.length} of ${counted(all.length, 'request')} ${were} left out: ${text}`,
    unclear: others.filter((entry) => !isOfNoPayout(entry)).length,
  };
}

/** The calls of the payout service in a HAR, as journal entries in the order in which they began; null for anything else. @throws UsageError */
export function harEntries(
  document: unknown,
): { readonly requests: readonly JournalEntry[]; readonly others?: OtherRequests } | null {
  const har = Har.safeParse(document);
  if (!har.success) return null;
  const { creator, entries: all } = har.data.log;
  const calls = all.flatMap((entry, index) =>
    routeOf(entry.request) === null ? [] : checkedEntry(entry, index),
  );
  if (calls.length === 0 && all.length > 0)
    throw new UsageError(`it has ${counted(all.length, 'request')}, and none is to ${PATHS}`);
  // without their fields, two sends of one payout would not be seen; a sandbox has recorded every body that it read
  if (creator?.name !== 'payout-sandbox' && calls.some(lacksBody)) {
    throw new UsageError(
      'it lacks the bodies of requests to /payout/initiate (postData): record it with request bodies, as Chromium and Playwright do',
    );
  }
  const entries = calls
    .toSorted((a, b) => Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime))
    .map((entry, index) => entryOf(entry, index + 1));
  const others = othersIn(all);
  return { requests: withFoundPayouts(withReplays(entries)), ...(others !== undefined && { others }) };
}

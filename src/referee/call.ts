import type { JournalEntry } from '../contract/control-responses.ts';
import { timeText } from '../contract/times.ts';
import { toPaise } from '../payout/money.ts';
import { showsResponse } from '../scenario/rule.ts';
import { isMoney, isObject, seenIn, type Seen } from '../world/journal/kept-request.ts';
import { withoutControls } from '../world/journal/journal-text.ts';

/** One request of the client, with what the checks ask about it. */
export interface Call {
  readonly entry: JournalEntry;
  /** Its number in the journal: the order in which the requests began. */
  readonly id: number;
  readonly route: JournalEntry['route'];
  /** The client_ref_id that it names; null where it names none. */
  readonly reference: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** null for an amount that is not whole paise. */
  readonly amountPaise: number | null;
  /** Wall time, ms since the epoch. `endedMs` is Infinity while it is under way. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** World time, ms since the epoch. */
  readonly atMs: number;
  /** The id of the newest request that had begun when this one ended; Infinity while it is under way. */
  readonly endedAfter: number;
  /** True when it ended because the client gave up, or because a hang was cut. A slow response that was read is "answered". */
  readonly wasLeft: boolean;
  /** HTTP status that the client saw; null for none. */
  readonly status: number | null;
  readonly seen: Seen;
  /** How long the response asked the client to wait; null when it did not. Until a date: world time from the request on. */
  readonly retryAfter: { readonly ms: number; readonly isDate: boolean } | null;
  /** Whether it made a payout; null when nobody knows. */
  readonly committed: boolean | null;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Whether a limit of the sandbox ended the connection before the response was sent. */
const isCutOff = ({ outcome, limit }: JournalEntry): boolean => outcome === 'fault' && limit !== null;

function statusOf(entry: JournalEntry): number | null {
  const { answer, fault, outcome } = entry;
  if (outcome === 'client_gone' || isCutOff(entry) || !showsResponse(fault)) return null;
  return answer === null || answer.status < 100 ? null : answer.status;
}

function seenOf(entry: JournalEntry): Seen {
  const { answer, outcome, route, code, request } = entry;
  if (outcome === 'pending' && answer === null) return { kind: 'nothing' };
  const status = outcome === 'fault' ? null : statusOf(entry);
  return seenIn({ route, status, code, body: answer?.body, asked: request.headers });
}

/** Retry-After in seconds, or as a date. */
function retryAfterOf({ answer, at }: JournalEntry): Call['retryAfter'] {
  if (answer === null || (answer.status !== 429 && answer.status !== 503)) return null;
  const name = Object.keys(answer.headers).find((header) => header.toLowerCase() === 'retry-after');
  const text = String(name === undefined ? '' : answer.headers[name]);
  if (/^\d{1,9}$/.test(text)) return { ms: Number(text) * 1000, isDate: false };
  const untilMs = Date.parse(/[A-Z]/.test(text) ? text : ''); // Node.js reads 1.5 as the fifth of January
  return Number.isNaN(untilMs) ? null : { ms: Math.max(untilMs - Date.parse(at), 0), isDate: true };
}

function txnIdIn({ route, request, txn_id }: JournalEntry): string | null {
  if (txn_id !== null || route !== 'status') return txn_id;
  const query = request.path.indexOf('?');
  return query === -1 ? null : new URLSearchParams(request.path.slice(query)).get('txn_id');
}

/**
 * The newest request that had begun when this one ended. Where its response is on its way, perhaps from another server, nothing came
 * before its end for certain.
 */
const endOf = ({ id, ended_after: after, answer, fault }: JournalEntry): number =>
  after ?? (answer !== null && fault === null ? id : Infinity);

/** @param referenceOf the reference of a payout, for a status read that named a txn_id */
export function callOf(entry: JournalEntry, referenceOf: (txnId: string | null) => string | undefined): Call {
  const { id, route, request, duration_ms, fault, outcome, client_ref_id } = entry;
  const body = route === 'initiate' && isObject(request.body) ? request.body : {};
  const { amount } = body;
  const beganMs = Date.parse(entry.wall_at);
  const endedMs = duration_ms === null ? Infinity : beganMs + duration_ms;
  return {
    entry,
    id,
    route,
    reference: client_ref_id ?? textOf(body['client_ref_id']) ?? referenceOf(txnIdIn(entry)) ?? null,
    body,
    amountPaise: isMoney(amount) && amount > 0 ? toPaise(amount) : null,
    beganMs,
    endedMs,
    atMs: Date.parse(entry.at),
    endedAfter: endOf(entry),
    wasLeft:
      outcome === 'client_gone' ||
      (!isCutOff(entry) && (fault === 'hang' || (fault === 'slow-body' && outcome === 'fault'))),
    status: statusOf(entry),
    seen: seenOf(entry),
    retryAfter: retryAfterOf(entry),
    committed: entry.committed,
  };
}

/** How long after a client's next request a busy server may notice that the client left the previous one. */
const NOTICED_LATE_MS = 1000;
/** Of two requests that were left: how soon after the earlier one the later one began, relative to how long they lasted. */
const AT_ONCE = 0.25;
const CLEARLY_MS = 200;

/** A client waits about as long for each response, so one that gave up the first cannot have sent the second much sooner than that. */
const wereLeftTogether = (earlier: Call, later: Call): boolean =>
  later.wasLeft &&
  earlier.endedMs - later.beganMs > CLEARLY_MS &&
  later.beganMs - earlier.beganMs <
    AT_ONCE * Math.min(earlier.endedMs - earlier.beganMs, later.endedMs - later.beganMs);

/**
 * Whether a request was still under way when a later one began. A client that gives up sends its next request at once, and
 * that may be answered before the server notices; so a request that was left counts only if it lasted clearly longer than the
 * later one, or if both were left after about the same time.
 */
export const overlaps = (earlier: Call, later: Call): boolean =>
  earlier.wasLeft
    ? earlier.endedMs > later.endedMs + NOTICED_LATE_MS || wereLeftTogether(earlier, later)
    : earlier.endedAfter >= later.id;

/** What these requests send, or these payouts pay, together; an amount that is not whole paise counts as nothing. */
export const totalOf = (some: readonly Pick<Call, 'amountPaise'>[]): number =>
  some.reduce((sum, { amountPaise }) => sum + (amountPaise ?? 0), 0);

export const wasCommitted = (calls: readonly Call[]): boolean =>
  calls.some(({ committed }) => committed === true);

const METHODS = { initiate: 'POST initiate', status: 'GET status', balance: 'GET balance' } as const;

function responseOf({ entry, seen, status }: Call): string {
  const { fault, outcome, limit } = entry;
  if (isCutOff(entry)) return `connection closed by limit ${limit}`;
  if (fault !== null) return fault;
  if (outcome === 'client_gone') return 'no response';
  if (status === null) return outcome === 'pending' ? 'under way' : 'no response';
  return seen.kind === 'state' ? `${status} ${seen.state}` : `${status}`;
}

/** A request in one line, in two columns: `#3 POST initiate order-7  hang, committed; client left after 300 ms` */
export function requestLine(call: Call): string {
  const { entry, id, route, reference, wasLeft, seen, committed } = call;
  const facts = [responseOf(call)];
  if (committed === true) facts.push('committed');
  if (committed === false && seen.kind === 'unknown') facts.push('not committed');
  if (entry.replayed) facts.push('replayed');
  let text = `#${id} ${route === null ? entry.request.method : METHODS[route]}`;
  if (reference !== null) text += ` ${reference}`;
  text += `  ${facts.join(', ')}`;
  if (wasLeft && entry.duration_ms !== null) text += `; client left after ${timeText(entry.duration_ms)}`;
  const { traceparent } = entry.request.headers;
  if (typeof traceparent === 'string') text += `; traceparent ${traceparent}`;
  return withoutControls(text);
}

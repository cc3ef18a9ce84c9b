import type { JournalEntry } from '../../contract/control-responses.ts';
import { istTime } from '../../contract/instant.ts';

/** References and headers are the client's own texts: their control characters must not reach people. */
export const withoutControls = (text: string): string => text.replaceAll(/\p{C}/gu, '\ufffd');

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined;

/** The request of the client: `POST /payout/initiate order-1 1500.5 IMPS` */
function requestText({
  request: { method, path, body },
  client_ref_id,
  txn_id,
  route,
}: JournalEntry): string {
  const details = route === 'initiate' ? [fieldOf(body, 'amount'), fieldOf(body, 'transfer_mode')] : [];
  return [method, path.split('?', 1)[0], client_ref_id ?? (route === 'status' ? txn_id : null), ...details]
    .filter((part) => part !== null && part !== undefined)
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join(' ');
}

/** Its response: `500 INTERNAL_ERROR`, `200 PENDING`, `hang`. */
export function answerText({ outcome, answer, fault, code }: JournalEntry): string {
  if (fault !== null) return fault;
  if (outcome === 'pending') return 'not answered yet';
  if (outcome === 'fault') return 'the sandbox closed the connection';
  if (outcome === 'client_gone' || answer === null) return 'the client left before the response';
  const state = fieldOf(fieldOf(answer.body, 'data'), 'status');
  return [answer.status, code ?? state]
    .filter((part) => typeof part !== 'object')
    .join(' ')
    .trim();
}

/** The reason and the result: `attempt 2; rule world/busy; payout made; 12 ms` */
export function reasonText({
  attempt,
  rule,
  limit,
  committed,
  replayed,
  duration_ms,
  route,
}: JournalEntry): string {
  const facts = [
    attempt !== null && attempt > 1 && `attempt ${attempt}`,
    rule !== null && `rule ${rule}`,
    limit !== null && `limit ${limit}`,
    replayed && 'replayed',
    committed === true && 'payout made',
    committed === false && !replayed && route === 'initiate' && 'no payout made',
    duration_ms !== null && `${Math.round(duration_ms)} ms`,
  ];
  return facts.filter((fact) => fact !== false).join('; ');
}

/**
 * The journal as a person reads it, line by line: a title, and a line for each request.
 *
 * @param shown the oldest first
 * @param count how many these are
 * @param wanted the number of requests from which these are taken
 * @param which part of them is shown, if not all
 */
export function* journalText(
  shown: Iterable<JournalEntry>,
  count: number,
  wanted: number,
  which: 'latest' | 'first',
): Generator<string> {
  if (count === 0) return yield 'No requests in the journal of this world.\n';
  const part = count < wanted ? `, the ${which} ${count} of ${wanted}` : '';
  yield `Requests to this world, at world time in IST${part}:\n`;
  for (const entry of shown) {
    const line = `  #${entry.id} ${istTime(entry.at)} ${requestText(entry)} → ${answerText(entry)} (${reasonText(entry)})`;
    yield `${withoutControls(line)}\n`;
  }
}

import type { JournalEntry, RequestsResponse } from '../../contract/control-responses.ts';
import { istDate, istTime } from '../../contract/times.ts';
import { counted, rupees } from '../../contract/words.ts';

/** References and headers are the client's own texts: their control characters must not reach people. */
export const withoutControls = (text: string): string => text.replaceAll(/\p{C}/gu, '\ufffd');

const fieldOf = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)[name] : undefined;

/** `₹1,500.50`, or what was sent instead of an amount. */
const amountText = (amount: unknown): string =>
  typeof amount === 'number' && Number(amount.toFixed(2)) === amount
    ? rupees(amount)
    : JSON.stringify(amount);

/** The request of the client: `initiate order-1 ₹1,500.50 IMPS`; for one to no route of the service, its method and path. */
function requestText({
  request: { method, path, body },
  client_ref_id,
  txn_id,
  route,
}: JournalEntry): string {
  const [amount, mode] = [fieldOf(body, 'amount'), fieldOf(body, 'transfer_mode')];
  const isPayout = route === 'initiate';
  return [
    route ?? `${method} ${path.split('?', 1)[0]}`,
    client_ref_id ?? txn_id,
    isPayout && amount !== undefined && amountText(amount),
    isPayout && mode,
  ]
    .filter((part) => typeof part === 'string')
    .join(' ');
}

/** Its response: `500 INTERNAL_ERROR`, `200 PENDING`, `hang`. */
function answerText({ outcome, answer, fault, code }: JournalEntry): string {
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
function reasonText({ attempt, rule, limit, committed, replayed, duration_ms, route }: JournalEntry): string {
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
 * The journal as a person reads it, line by line: the day, a line for each request, and how many others there are.
 *
 * @param shown the oldest first
 */
export function* journalText(
  shown: Iterable<JournalEntry>,
  { evicted, left_out }: Pick<RequestsResponse, 'evicted' | 'left_out'>,
): Generator<string> {
  let day: string | null = null;
  for (const entry of shown) {
    const today = istDate(entry.at);
    if (day === null) yield `Requests to this world, at world time in IST, from ${today}:\n`;
    else if (day !== today) yield `  ${today}\n`;
    day = today;
    const line = `  #${entry.id} ${istTime(entry.at)} ${requestText(entry)} → ${answerText(entry)} (${reasonText(entry)})`;
    yield `${withoutControls(line)}\n`;
  }
  if (day === null) yield `No ${left_out > 0 ? 'such request' : 'requests'} in the journal of this world.\n`;
  if (evicted > 0) yield `${counted(evicted, 'older request')} dropped from the journal\n`;
  if (left_out > 0) yield `${counted(left_out, 'other request')} not shown\n`;
}

import { answerText, reasonText } from '../../world/journal/journal-text.ts';
import type { JournalEntry, RequestsAnswer } from '../../contract/control-answers.ts';
import type { RequestsQuery } from '../../contract/control.ts';
import { counted, istTime, rupees, table, type Cell, type Colour } from './readable.ts';
import { show, type Session } from './world-session.ts';

/** A request in words, for `journal` and `tail`. */

/** `initiate`; for a request to no route of the service, its method and path. */
const routeText = ({ route, request: { method, path } }: JournalEntry): string =>
  route ?? `${method} ${path.split('?', 1)[0]}`;

/** `₹1,500.50 IMPS`, or what was sent instead of an amount. */
function sumText({ route, request: { body } }: JournalEntry): string {
  if (route !== 'initiate' || typeof body !== 'object' || body === null) return '';
  const { amount, transfer_mode: mode } = body as Readonly<Record<string, unknown>>;
  const isInr = typeof amount === 'number' && Number(amount.toFixed(2)) === amount;
  const parts = [isInr ? rupees(amount) : JSON.stringify(amount), mode];
  return parts.filter((part) => typeof part === 'string').join(' ');
}

function answerColour({ answer, fault, outcome }: JournalEntry): Colour {
  if (outcome === 'pending') return 'yellow';
  return fault !== null || answer === null || answer.status >= 400 ? 'red' : 'green';
}

/** The request, its answer and the reason. */
export const requestCells = (entry: JournalEntry): readonly (string | Cell)[] => [
  routeText(entry),
  entry.client_ref_id ?? entry.txn_id ?? '',
  { text: sumText(entry), isRight: true },
  { text: answerText(entry), colour: answerColour(entry) },
  { text: reasonText(entry), colour: 'dim' },
];

/** `payout-sandbox journal`: the latest requests, oldest first. */
export async function showJournal(
  session: Session,
  query: Pick<RequestsQuery, 'route' | 'status' | 'client_ref_id' | 'txn_id' | 'since' | 'limit'>,
): Promise<void> {
  const answer = await session.control.get<RequestsAnswer>('/requests', { ...query, order: 'newest' });
  const { requests, evicted } = answer;
  show(session, answer, () => {
    const rows = requests.toReversed().map((entry) => {
      const id = { text: `#${entry.id}`, isRight: true };
      return ([id, istTime(entry.at)] as (string | Cell)[]).concat(requestCells(entry));
    });
    const headings = ['', 'at (IST)', 'request', 'reference', 'amount', 'answer', 'why'];
    return [
      ...(rows.length === 0
        ? ['the journal of this world has no such request']
        : table(headings, rows, session.paint)),
      ...(evicted === 0 ? [] : [`${counted(evicted, 'older request')} dropped from the journal`]),
    ];
  });
}

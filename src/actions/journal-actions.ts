import { RefereeSettings, type RefereeSettingsInput } from '../contract/conduct.ts';
import type { JournalEntry, RequestsResponse } from '../contract/control-responses.ts';
import { istDate, istTime } from '../contract/instant.ts';
import { parseShape } from '../contract/shape-issues.ts';
import { counted, rupees } from '../contract/words.ts';
import { expectedTable } from '../referee/expected-table.ts';
import {
  hasFailed,
  hasRequests,
  reportsOf,
  noRequestsMessage,
  type Colour,
} from '../referee/reports/summary.ts';
import { terminalText } from '../referee/reports/terminal.ts';
import { SettingsError } from '../settings.ts';
import { answerText, reasonText } from '../world/journal/journal-text.ts';
import { action, type Session } from './sandbox-action.ts';
import { flag, limit, listDocument, text, textOrNumber, usedText, wholeNumber } from './arguments.ts';
import { jsonText, newDays, table, type Cell } from './text-output.ts';

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

function responseColour({ answer, fault, outcome }: JournalEntry): Colour {
  if (outcome === 'pending') return 'yellow';
  return fault !== null || answer === null || answer.status >= 400 ? 'red' : 'green';
}

const requestCells = (entry: JournalEntry): readonly (string | Cell)[] => [
  routeText(entry),
  entry.client_ref_id ?? entry.txn_id ?? '',
  { text: sumText(entry), isRight: true },
  { text: answerText(entry), colour: responseColour(entry) },
  { text: reasonText(entry), colour: 'dim' },
];

function journalLines(
  { requests, evicted, left_out }: RequestsResponse,
  { paint }: Session,
): readonly string[] {
  const days = new Set(requests.map(({ at }) => istDate(at)));
  const newDay = newDays(days.size === 1 ? [...days][0]! : null);
  const rows: (string | Cell)[][] = [];
  for (const entry of requests.toReversed()) {
    const day = newDay(entry.at);
    if (day !== null) rows.push(['', day]);
    rows.push([{ text: `#${entry.id}`, isRight: true }, istTime(entry.at), ...requestCells(entry)]);
  }
  const headings = ['', 'at (IST)', 'request', 'reference', 'amount', 'response', 'why'];
  return [
    ...table(headings, rows, paint, 'the journal of this world has no such request'),
    ...(evicted === 0 ? [] : [`${counted(evicted, 'older request')} dropped from the journal`]),
    ...(left_out === 0 ? [] : [`${counted(left_out, 'other request')} not shown`]),
  ];
}

async function requestOf(number: number, { control }: Session): Promise<JournalEntry> {
  const query = { since: number - 1, order: 'oldest', limit: 1 };
  const { requests } = await control.get<RequestsResponse>('/requests', query);
  if (requests[0]?.id === number) return requests[0];
  throw new SettingsError(`the journal of this world has no request ${number}`);
}

/** `beneficiary_account`, or `client_ref_id=^order-(\d+)`. @param name of the argument */
export function intentOf(given: string, name: string): RefereeSettings['intent'] {
  const at = given.indexOf('=');
  const intent = at < 1 ? given : { [given.slice(0, at)]: given.slice(at + 1) };
  const { value, issues } = parseShape(RefereeSettings.shape.intent, intent);
  if (issues === undefined) return value;
  throw new SettingsError(`${name} ${[...issues[0]!.path, issues[0]!.message].join(' ')}`);
}

export const journalActions = [
  action({
    name: 'journal',
    summary: 'list the requests, what each got and why; or show one',
    details: 'With its number, a request is shown in full.',
    effect: 'reads',
    input: {
      number: wholeNumber('the number of one request, to show it in full').optional(),
      route: text('only initiate, status or balance', 'route').optional(),
      status: wholeNumber('only those that got this HTTP status', 100, 599).optional(),
      reference: text('only those with this client_ref_id').optional(),
      txn: text('only those with this txn_id', 'id').optional(),
      since: textOrNumber(
        'only those after this number, or since this world time',
        'number or time',
      ).optional(),
      limit,
    },
    words: ['number'],
    run: async ({ number, reference, txn, since, ...query }, session) =>
      number === undefined
        ? session.control.get<RequestsResponse>('/requests', {
            ...query,
            client_ref_id: reference,
            txn_id: txn,
            since: since?.replace(/^#/, ''),
          })
        : requestOf(number, session),
    lines: (found, session) =>
      'requests' in found ? journalLines(found, session) : jsonText(found).split('\n'),
  }),
  action({
    name: 'verdict',
    summary: 'judge how the client of a world behaved',
    details:
      'Whether it paid twice, gave up too early, retried too fast, and more. Without intent, a second reference of one payout is recognised only by an equal body. Give it each time: findings from before the last reset are then left out.',
    effect: 'changes',
    input: {
      intent: text(
        'FIELD=PATTERN with one group, such as client_ref_id=^(order-\\d+), or a field that differs for each intended payout',
        'field',
      ).optional(),
      expect: listDocument(
        'the payouts that should end up paid: CSV or JSON with account, amount, times',
      ).optional(),
      ended: flag('the client is done: count what it never asked for'),
    },
    async run({ intent, expect, ended }, { world, control, keyText, texts, nameOf }) {
      const settings = {
        ...(intent !== undefined && { intent: intentOf(intent, nameOf('intent')) }),
        ...(expect !== undefined && {
          expect: usedText(nameOf('expect'), texts.read(nameOf('expect'), expect), expectedTable),
        }),
      };
      const isNew = Object.keys(settings).length > 0;
      const report = await world.referee(isNew ? (settings as RefereeSettingsInput) : undefined, { ended });
      const { requests, evicted } = await control.get<RequestsResponse>('/requests', { limit: 1 });
      if (requests.length + evicted > 0 || hasRequests(report)) return report;
      throw new SettingsError(noRequestsMessage(keyText));
    },
    lines: (report, { paint }, { intent, expect }) => [
      ...terminalText(reportsOf([report]), paint)
        .trimEnd()
        .split('\n'),
      ...((intent ?? expect) === undefined && report.judged_by
        ? [`judged by ${report.judged_by}, given before`]
        : []),
    ],
    hasFailed: (report) => hasFailed(reportsOf([report]), 'error'),
  }),
];

import { RefereeSettings, type RefereeSettingsInput } from '../contract/conduct.ts';
import type { JournalEntry, RequestsResponse } from '../contract/control-responses.ts';
import { parseShape } from '../contract/shape-issues.ts';
import { hasFailed, hasRequests, reportsOf, noRequestsMessage } from '../referee/reports/summary.ts';
import { terminalText } from '../referee/reports/terminal.ts';
import { SettingsError } from '../settings.ts';
import { journalText } from '../world/journal/journal-text.ts';
import { action, type Session } from './sandbox-action.ts';
import { flag, limit, listDocument, text, wholeNumber } from './arguments.ts';
import { jsonText } from './text-output.ts';

async function requestOf(number: number, { control }: Session): Promise<JournalEntry> {
  const query = { since: number - 1, order: 'oldest', limit: 1 };
  const { requests } = await control.get<RequestsResponse>('/requests', query);
  if (requests[0]?.id === number) return requests[0];
  throw new SettingsError(`the journal of this world has no request ${number}`);
}

export const INTENT = text(
  'FIELD=PATTERN with one group, such as client_ref_id=^(order-[0-9]+), or a field that differs for each intended payout',
  'field',
).optional();

/** `beneficiary_account`, or `client_ref_id=^order-(\d+)`. @param name of the argument */
export function intentOf(given: string, name: string): RefereeSettings['intent'] {
  const at = given.indexOf('=');
  const intent = at < 1 ? given : { [given.slice(0, at)]: given.slice(at + 1) };
  const { value, issues: [issue] = [] } = parseShape(RefereeSettings.shape.intent, intent);
  if (issue === undefined) return value;
  const form = at < 1 ? 'must be FIELD=PATTERN, such as client_ref_id=^(order-[0-9]+), or' : 'must be';
  throw new SettingsError(`${name} ${[...issue.path, issue.message.replace('must be', form)].join(' ')}`);
}

export const journalActions = [
  action({
    name: 'journal',
    summary: 'list the requests with their responses and reasons, or show one',
    details: 'A number shows that request in full.',
    effect: 'reads',
    input: {
      number: wholeNumber('the number of one request, to show it in full').optional(),
      route: text('only initiate, status or balance', 'route').optional(),
      status: wholeNumber('only requests with this HTTP status', 100, 599).optional(),
      reference: text('only with this client_ref_id').optional(),
      txn: text('only with this txn_id', 'id').optional(),
      since: text('only after this number, or since this world time', 'number or time').optional(),
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
    lines: (found) =>
      ('requests' in found
        ? [...journalText(found.requests.toReversed(), found)].join('').trimEnd()
        : jsonText(found)
      ).split('\n'),
  }),
  action({
    name: 'verdict',
    summary: 'judge how the client of a world behaved',
    details:
      'Reports whether it paid twice, gave up too early, retried too fast and more. Without an intent, only identical bodies count as one payout. If you pass settings, only findings since the last reset are shown.',
    effect: 'changes',
    input: {
      intent: INTENT,
      expect: listDocument(
        'the payouts that should end up paid: a list in YAML or JSON, each with account, amount, times',
      ).optional(),
      ended: flag('the client is done: report outcomes it never read'),
    },
    async run({ intent, expect, ended }, { world, control, keyText, texts, nameOf }) {
      const { expectedIn } = await import('./written-documents.ts');
      const settings = {
        ...(intent !== undefined && { intent: intentOf(intent, nameOf('intent')) }),
        ...(expect !== undefined && { expect: expectedIn(texts.read(nameOf('expect'), expect)) }),
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
        ? [`judged by ${report.judged_by}, set earlier`]
        : []),
    ],
    hasFailed: (report) => hasFailed(reportsOf([report]), 'error'),
  }),
];

import type { JournalEntry } from '../../contract/control-responses.ts';
import { matcher, NO_LIST_FILTER, type ListFilter } from '../lists/list-filter.ts';
import { statusOf, wentWrong } from '../ui/request-words.ts';

const FIRST_FAILURE = 500;
const hasFailed = (entry: JournalEntry): boolean => statusOf(entry) >= FIRST_FAILURE;

/** The choices of the filter “What went wrong”. */
export const REQUEST_KINDS = {
  all: { name: 'All requests', isOne: () => true },
  wrong: { name: 'Everything that went wrong', isOne: wentWrong },
  paid: {
    name: 'Paid, but the client saw a failure',
    isOne: (entry: JournalEntry) => entry.committed === true && wentWrong(entry),
  },
  open: { name: 'No response yet', isOne: ({ outcome }: JournalEntry) => outcome === 'pending' },
  refused: {
    name: 'Refused (4xx)',
    isOne: (entry: JournalEntry) => wentWrong(entry) && statusOf(entry) > 0 && !hasFailed(entry),
  },
  failed: { name: 'Failed (5xx)', isOne: hasFailed },
  broken: {
    name: 'Broken connections',
    isOne: ({ outcome }: JournalEntry) => outcome === 'fault' || outcome === 'client_gone',
  },
} as const satisfies Record<string, { name: string; isOne: (entry: JournalEntry) => boolean }>;
export type RequestKind = keyof typeof REQUEST_KINDS;

export interface RequestFilter extends ListFilter {
  readonly kind: string;
}

export const NO_FILTER: RequestFilter = { ...NO_LIST_FILTER, kind: 'all' };

export function wantedRequests(
  rows: readonly JournalEntry[],
  { kind, text }: RequestFilter,
): readonly JournalEntry[] {
  const { isOne } = REQUEST_KINDS[Object.hasOwn(REQUEST_KINDS, kind) ? (kind as RequestKind) : 'all'];
  const isId = /^\s*req-/i.test(text); // ids are numbered: a part of one is in many others
  const isWanted = matcher<JournalEntry>(text, (row) => [
    row.client_ref_id,
    row.txn_id,
    row.request.path,
    row.rule,
    isId ? row.request_id : null,
    row.code,
  ]);
  return rows.filter((row) => isOne(row) && isWanted(row));
}

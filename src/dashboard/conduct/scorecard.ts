import type { RuleRequest } from '../../contract/control.ts';
import type { JournalEntry, RuleResponse } from '../../contract/control-responses.ts';
import type { Found } from './client-findings.ts';

type Effect = NonNullable<RuleRequest['effect']>;

/** The nine failures that a client meets, one with each new payout. */
export const BREAKS: readonly (readonly [name: string, text: string, effect: Effect])[] = [
  ['break-1-429', 'a 429', { respond: { status: 429 } }],
  ['break-2-500', 'a 500, and no payout', { respond: { status: 500 } }],
  ['break-3-500-paid', 'a 500 after the payout', { commit: true, respond: { status: 500 } }],
  ['break-4-hang', 'no response after the payout', { commit: true, fault: 'hang' }],
  ['break-5-reset', 'a connection reset after the payout', { commit: true, fault: 'connection-reset' }],
  ['break-6-empty', 'an empty response after the payout', { commit: true, fault: 'empty-response' }],
  ['break-7-cut', 'half a response after the payout', { commit: true, fault: 'truncated-body' }],
  ['break-8-garbage', 'broken JSON after the payout', { commit: true, fault: 'malformed-json' }],
  ['break-9-slow', 'a response after 5 s', { commit: true, delay: '5s' }],
];

/** Whether a rule is one of the nine. */
export const isBreak = ({ name, from }: RuleResponse): boolean =>
  from === 'world' && BREAKS.some(([known]) => known === name);

interface Score {
  readonly verdict: 'waiting' | 'open' | 'survived' | 'failed';
  readonly text: string;
  /** The requests that prove it. */
  readonly requests: readonly number[];
}

/** What the client made of one failure. @param entry the request that met it */
export function scoreOf(
  entry: JournalEntry | undefined,
  rows: readonly JournalEntry[],
  found: readonly Found[],
  isTold: (txnId: string) => boolean,
): Score {
  if (entry === undefined) return { verdict: 'waiting', text: 'waits for a new payout', requests: [] };
  const ref = entry.client_ref_id;
  const isAbout = ({ finding }: Found): boolean =>
    finding.severity !== 'notice' &&
    (finding.requests.includes(entry.id) || (ref !== null && finding.references.includes(ref)));
  const wrong = found.find(isAbout);
  if (wrong !== undefined) {
    const { message, requests } = wrong.finding;
    return { verdict: 'failed', text: `${wrong.id}: ${message}`, requests };
  }
  const later = rows.filter(({ id, client_ref_id: other }) => id > entry.id && other === ref).toReversed();
  const requests = [entry, ...later].map(({ id }) => id);
  const txnId = [entry, ...later].find(({ txn_id: id }) => id !== null)?.txn_id ?? null;
  if (txnId !== null && isTold(txnId))
    return { verdict: 'survived', text: 'it knows of the one payout', requests };
  const text = later.length === 0 ? 'it has not polled or retried yet' : 'it does not know of a payout yet';
  return { verdict: 'open', text, requests };
}

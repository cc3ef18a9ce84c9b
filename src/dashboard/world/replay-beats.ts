import type { JournalEntry, TransactionResponse } from '../../contract/control-responses.ts';
import type { Found } from '../conduct/client-findings.ts';
import { askedText, seenText } from '../ui/request-words.ts';

/** One thing that happened, as a replay shows it. */
export interface Beat {
  readonly atMs: number;
  readonly text: string;
  /** The request that it is about; null for a step of a payout. */
  readonly request: number | null;
  /** What the referee found, at the last request that shows it. */
  readonly findings: readonly Found[];
  /** How many payouts had been made by then without that their client was told. */
  readonly atRisk: number;
}

/** Everything that happened in a world, in the order of its time. */
export function beatsOf(
  requests: readonly JournalEntry[],
  payouts: readonly TransactionResponse[],
  found: readonly Found[],
): readonly Beat[] {
  const steps = payouts.flatMap(({ client_ref_id: ref, timeline }) =>
    timeline.flatMap(({ to, at, done }) =>
      done && at !== null && to !== null
        ? [{ atMs: Date.parse(at), text: `${ref} is ${to}`, request: null, findings: [] }]
        : [],
    ),
  );
  const asked = requests.map((entry) => ({
    atMs: Date.parse(entry.at),
    text: `${askedText(entry)} ${entry.client_ref_id ?? ''} → ${seenText(entry)}`,
    request: entry.id,
    findings: found.filter(({ finding }) => Math.max(...finding.requests) === entry.id),
  }));
  const beats = [...asked, ...steps].toSorted(
    (a, b) => a.atMs - b.atMs || (a.request ?? Infinity) - (b.request ?? Infinity),
  );
  const made = new Map(
    requests.flatMap(({ id, committed, txn_id: txnId }) => (committed && txnId ? [[id, txnId]] : [])),
  );
  const toldBy = new Map(payouts.map(({ txn_id: id, told }) => [id, told?.request ?? Infinity]));
  const risky = new Set<string>();
  const counted: Beat[] = [];
  for (const beat of beats) {
    const txnId = beat.request === null ? undefined : made.get(beat.request);
    if (txnId !== undefined && toldBy.get(txnId) !== beat.request) risky.add(txnId);
    for (const id of risky) if (toldBy.get(id) === beat.request) risky.delete(id);
    counted.push({ ...beat, atRisk: risky.size });
  }
  return counted;
}

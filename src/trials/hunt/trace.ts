import type { Call } from '../../referee/call.ts';
import type { Case } from '../../referee/case.ts';
import { positionKey, positionText, type Failure, type Position } from './failures.ts';

/** What a client did in one run, in a form that can be compared with other runs. */

interface TracedCall {
  readonly call: Call;
  /** null for a request for which no failure can be ordered: one before its reference was sent. */
  readonly position: Position | null;
}

/** The requests of a run, in the order in which they began, each with its position. */
export type Trace = readonly TracedCall[];

/** The name by which a status read asks for its payout, under which attempts are counted. */
function requestedName({ entry }: Call): string {
  const query = new URLSearchParams(entry.request.path.split('?')[1] ?? '');
  return query.get('client_ref_id') ?? query.get('txn_id') ?? '';
}

export function traceOf({ calls }: Case): Trace {
  const payouts = new Map<string, number>();
  const reads = new Map<string, number>();
  let balances = 0;
  return calls.map((call) => {
    const { route, reference, entry } = call;
    if (route === 'initiate' && reference !== null && entry.attempt !== null) {
      if (!payouts.has(reference)) payouts.set(reference, payouts.size + 1);
      const payout = payouts.get(reference)!;
      return { call, position: { of: route, payout, attempt: entry.attempt } };
    }
    if (route === 'balance') return { call, position: { of: route, payout: 1, attempt: (balances += 1) } };
    if (route !== 'status') return { call, position: null };
    const name = requestedName(call);
    const attempt = (reads.get(name) ?? 0) + 1;
    reads.set(name, attempt);
    const payout = payouts.get(reference ?? '');
    return { call, position: payout === undefined ? null : { of: route, payout, attempt } };
  });
}

/** The positions that a run reached, in order. The outcome of a payout is decided before its first initiate. */
const positionsOf = (trace: Trace): readonly Position[] =>
  trace.flatMap(({ position }) => {
    if (position === null) return [];
    const { of, payout, attempt } = position;
    return of === 'initiate' && attempt === 1
      ? [{ of: 'outcome' as const, payout, attempt: 1 }, position]
      : [position];
  });

/** The positions of a run after all of its failures. */
export function positionsAfter(trace: Trace, failures: readonly Failure[]): readonly Position[] {
  const positions = positionsOf(trace);
  const failed = new Set(failures.map(({ position }) => positionKey(position)));
  return positions.slice(positions.findLastIndex((position) => failed.has(positionKey(position))) + 1);
}

/** A request and what the client saw, without anything that differs between runs: references, ids and times. */
function callText({ call, position }: TracedCall): string {
  const { route, seen, status, entry, body } = call;
  const what = position === null ? (route ?? entry.request.method) : positionText(position);
  const paid =
    route === 'initiate' ? ` (${String(body['beneficiary_account'])}, ${String(body['amount'])})` : '';
  const answer = `${entry.fault ?? status ?? entry.outcome}${seen.kind === 'state' ? ` ${seen.state}` : ''}`;
  return `${what}${paid}: ${answer}${call.committed === true ? ', committed' : ''}`;
}

/** What followed the failures of a run: the same text when the client did the same. */
export function continuationOf(trace: Trace, failures: readonly Failure[]): string {
  const failed = new Set(failures.map(({ position }) => positionKey(position)));
  const last = trace.findLastIndex(({ position }) => position !== null && failed.has(positionKey(position)));
  return trace
    .slice(last + 1)
    .map(callText)
    .join('\n');
}

/** The first request that only one of two runs has; null when they agree. Their order may differ. */
export function firstDifference(one: Trace, other: Trace): string | null {
  const left = other.map(callText);
  for (const traced of one) {
    const text = callText(traced);
    const index = left.indexOf(text);
    if (index === -1) return `only the first has "${text}"`;
    left.splice(index, 1);
  }
  return left[0] === undefined ? null : `only the second has "${left[0]}"`;
}

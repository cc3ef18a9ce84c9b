import type { Call } from '../../referee/call.ts';
import type { Case } from '../../referee/case.ts';
import { inParallel } from '../run.ts';
import { failuresAt, isLater, positionKey, positionText, type Failure, type Position } from './failures.ts';
import type { Goal, Hit } from './goals.ts';

/** What a client did in one run, in a form that can be compared with other runs; and the search through the runs. */

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
function positionsAfter(trace: Trace, failures: readonly Failure[]): readonly Position[] {
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
function continuationOf(trace: Trace, failures: readonly Failure[]): string {
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

/** What the search knows about one run. */
export interface Observation {
  readonly trace: Trace;
  /** Its requests, one line each. */
  readonly requests: readonly string[];
  readonly hits: readonly Hit[];
  /** What the client does not give up waiting for: another one would take as long and show the same. */
  readonly endless: readonly string[];
}

/** Failures that make the client reach a goal every time, and none of which can be left out. */
export interface Reproduction extends Hit {
  readonly failures: readonly Failure[];
  /** The requests of a run under these failures, one line each. */
  readonly requests: readonly string[];
}

export interface SearchOptions {
  readonly goals: readonly Goal[];
  readonly depth: number;
  readonly workers: number;
  /** Whether the client is a command that can be killed and run again. */
  readonly mayKill: boolean;
  readonly observe: (failures: readonly Failure[]) => Promise<Observation>;
  /** Whether there is time for another run, and one is left. */
  readonly mayGoOn: () => boolean;
  readonly onFound: (found: Reproduction) => void;
  /** Called with a hit that did not repeat. */
  readonly onFlaky: (hit: Hit) => void;
  /** Gets each round when it begins, and is kept up to date. */
  readonly rounds: Round[];
}

/** All runs with the same number of failures. */
export interface Round {
  /** How many failures they have. */
  readonly depth: number;
  /** How many of them were tried. */
  tried: number;
  /** How many of them there are. */
  of: number;
}

/** A hit counts if it repeats this many times. */
const REPEATS = 3;

interface Candidate {
  readonly failures: readonly Failure[];
  /** Whether an earlier run continued in the same way after its own failures: its continuations are tried last. */
  readonly isLikeAnother: boolean;
  /** How many positions lie between the last two failures: how a client handles a failure is usually tested least. */
  readonly distance: number;
}

/**
 * Searches breadth first for the fewest failures that make the client reach each goal: every single failure at every
 * position that the baseline run reached; then every pair, of which the second is at a position that a run with the first
 * reached; and so on.
 *
 * @returns whether nothing was left to try
 */
export async function search(baseline: Observation, options: SearchOptions): Promise<boolean> {
  const { depth, rounds, mayGoOn, mayKill } = options;
  const open = new Set(options.goals);
  const continuations = new Set<string>();
  const endless = new Set<string>();
  const nextOf = ({ trace }: Observation, failures: readonly Failure[], isLikeAnother: boolean) =>
    positionsAfter(trace, failures).flatMap((position, distance) =>
      failuresAt(position, mayKill).map((failure) => ({
        failures: [...failures, failure],
        isLikeAnother,
        distance,
      })),
    );
  let candidates: readonly Candidate[] = nextOf(baseline, [], false);
  for (let size = 1; size <= depth && candidates.length > 0 && open.size > 0; size += 1) {
    const next: Candidate[] = [];
    const queue = inOrder(candidates);
    const round: Round = { depth: size, tried: 0, of: queue.length };
    rounds.push(round);
    while (queue.length > 0 && open.size > 0 && mayGoOn()) {
      const isUseless = ({ failures }: Candidate): boolean => failures.some(({ kind }) => endless.has(kind));
      for (const { failures, observed } of await observeMany(queue, isUseless, open, round, options)) {
        for (const kind of observed.endless) endless.add(kind);
        const hits = observed.hits.filter(({ goal }) => open.has(goal));
        for (const hit of hits) {
          if (await repeats(hit, failures, options)) open.delete(hit.goal);
          else options.onFlaky(hit);
        }
        const continuation = continuationOf(observed.trace, failures);
        // after a run that reached a goal, more failures rarely show anything new
        next.push(...nextOf(observed, failures, observed.hits.length > 0 || continuations.has(continuation)));
        continuations.add(continuation);
      }
    }
    candidates = next;
  }
  const [last] = rounds.slice(-1);
  return candidates.length === 0 && (last === undefined || last.tried === last.of);
}

/** The most promising first, in case there is no time for all; among equals, in the order of the run. */
const inOrder = (round: readonly Candidate[]): Candidate[] =>
  round.toSorted(
    (a, b) =>
      Number(a.isLikeAnother) - Number(b.isLikeAnother) ||
      a.failures.filter(isLater).length - b.failures.filter(isLater).length ||
      a.distance - b.distance,
  );

/** Runs candidates in the order of the queue, several at a time, until one reaches a goal. */
async function observeMany(
  queue: Candidate[],
  isUseless: (candidate: Candidate) => boolean,
  open: ReadonlySet<Goal>,
  round: Round,
  { workers, observe, mayGoOn }: SearchOptions,
): Promise<readonly { readonly failures: readonly Failure[]; readonly observed: Observation }[]> {
  const results: { failures: readonly Failure[]; observed: Observation }[] = [];
  let begun = 0;
  let isOver = false;
  const mayBegin = (): boolean => !isOver && mayGoOn();
  await inParallel(queue, workers, mayBegin, async (candidate) => {
    if (isUseless(candidate)) return;
    const { failures } = candidate;
    const place = begun++;
    const observed = await observe(failures);
    round.tried += 1;
    results[place] = { failures, observed };
    isOver ||= observed.endless.length > 0 || observed.hits.some(({ goal }) => open.has(goal));
  });
  return results;
}

/**
 * Repeats a hit alone. None of its failures can be left out, since a round begins when all runs with fewer have been tried.
 *
 * @returns whether the client reaches the goal every time
 */
async function repeats(
  { goal }: Hit,
  failures: readonly Failure[],
  { observe, onFound }: SearchOptions,
): Promise<boolean> {
  let found: Reproduction | undefined;
  for (let time = 1; time <= REPEATS; time += 1) {
    const { hits, requests } = await observe(failures);
    const hit = hits.find((one) => one.goal === goal);
    if (hit === undefined) return false;
    found = { ...hit, failures, requests };
  }
  onFound(found!);
  return true;
}

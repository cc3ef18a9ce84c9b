import type { OverrideScore } from '../contract/conduct.ts';
import type { JournalEntry } from '../contract/control-responses.ts';
import { inSteps, type Steps } from '../world/steps.ts';
import { inGroups, type Evidence } from './case.ts';
import { findingOf } from './check.ts';
import type { Judgement } from './judge.ts';

type Score = Pick<OverrideScore, 'verdict' | 'reason' | 'requests'>;

const WORST = ['failed', 'open', 'survived'] as const;
const WAITING: Score = { verdict: 'waiting', reason: 'it has changed no request yet', requests: [] };
const CUT: Score = { verdict: 'open', reason: 'the journal lacks requests that it changed', requests: [] };

/** What the client has made of each override, in steps. A finding is counted once: for the latest changed request of the reference that led to it. */
export function* scoresOf(
  { overrides = [], requests, ledger, clientEnded }: Evidence,
  evaluated: Judgement['evaluated'],
): Steps<OverrideScore[]> {
  const met = yield* inGroups(requests, ({ rule }) => rule);
  const changedBy = ({ id, taken }: (typeof overrides)[number]): readonly JournalEntry[] =>
    taken === 0 ? [] : (met.get(id)?.slice(-taken) ?? []);
  const changed = overrides.flatMap(changedBy).toSorted((a, b) => a.id - b.id);
  const causes = yield* inGroups(changed, ({ id, client_ref_id: reference }) => reference ?? `#${id}`);
  const failures = new Map<number | undefined, Score>(); // by the id of the request that led to each
  for (const { id: check, severity: usual, findings } of evaluated) {
    const parts = findings.flatMap((one) => one.parts ?? one);
    const found = yield* inSteps(parts, (one) => findingOf(one, usual));
    for (const { severity, message, requests: shown, references } of found) {
      const last = shown.at(-1) ?? 0;
      const cause = causes.get(references[0] ?? `#${last}`)?.findLast(({ id }) => id <= last)?.id;
      if (severity === 'notice' || failures.has(cause)) continue;
      failures.set(cause, { verdict: 'failed', reason: `${check}: ${message}`, requests: shown });
    }
  }
  const sent = yield* inGroups(requests, ({ client_ref_id: reference }) => reference);
  const payouts = yield* inGroups(ledger.payouts, ({ client_ref_id: reference }) => reference);

  /** What it has made of one request that a rule changed. */
  const scoreOf = ({ id, client_ref_id: reference }: JournalEntry): Score => {
    const failure = failures.get(id);
    if (failure !== undefined) return failure;
    const its = sent.get(reference ?? '') ?? [];
    const score = (verdict: Score['verdict'], reason: string): Score => ({
      verdict,
      reason,
      get requests() {
        return [id, ...its.map((one) => one.id).filter((other) => other > id)]; // only the worst one is shown
      },
    });
    const made = payouts.get(reference ?? '') ?? [];
    if (made.length > 0 && made.every(({ told }) => told !== null))
      return score('survived', 'it knows of its payout');
    if (clientEnded) return score('survived', 'it has ended without a finding');
    return score('open', 'no response has told it of a payout yet');
  };

  const all: OverrideScore[] = [];
  for (const { id, taken } of overrides) {
    const scores = yield* inSteps(changedBy({ id, taken }), scoreOf);
    const worst = WORST.map((verdict) => scores.find((one) => one.verdict === verdict)).find(Boolean);
    const isKnown = worst !== undefined && (worst.verdict === 'failed' || scores.length === taken);
    all.push({ id, taken, ...(taken === 0 ? WAITING : isKnown ? worst : CUT) });
  }
  return all;
}

import type { OverrideScore, WorldReport } from '../contract/conduct.ts';
import type { JournalEntry } from '../contract/control-responses.ts';
import { inSteps, type Steps } from '../world/steps.ts';
import { inGroups, type Evidence } from './case.ts';

type Score = Pick<OverrideScore, 'verdict' | 'reason' | 'requests'>;

const WORST = ['failed', 'open', 'survived'] as const;
const WAITING: Score = { verdict: 'waiting', reason: 'it has changed no request yet', requests: [] };
const INCOMPLETE: Score = {
  verdict: 'open',
  reason: 'not all requests that it changed are in the journal',
  requests: [],
};

/** What the client has made of each override, in steps. @param report on the same evidence, whose requests are in their order */
export function* scoresOf(evidence: Evidence, { checks }: WorldReport): Steps<OverrideScore[]> {
  const { overrides = [], requests, ledger, clientEnded } = evidence;
  const failures = new Map<number | string | null, Score>(); // by the ids of requests, and by references
  for (const { id: check, findings } of checks) {
    for (const { severity, message, requests: shown, references } of findings) {
      if (severity === 'notice') continue;
      const failure: Score = { verdict: 'failed', reason: `${check}: ${message}`, requests: shown };
      for (const key of [...shown, ...references]) if (!failures.has(key)) failures.set(key, failure);
    }
  }
  const met = yield* inGroups(requests, ({ rule }) => rule);
  const sent = yield* inGroups(requests, ({ client_ref_id: reference }) => reference);
  const payouts = yield* inGroups(ledger.payouts, ({ client_ref_id: reference }) => reference);
  const isCut = checks.some(({ more }) => more > 0);

  /** What it has made of one request that a rule changed. */
  const scoreOf = ({ id, client_ref_id: reference }: JournalEntry): Score => {
    const failure = failures.get(id) ?? failures.get(reference);
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
    if (isCut) return score('open', 'the report leaves findings out');
    if (clientEnded) return score('survived', 'it has ended without a finding');
    const hasGoneOn = (its.at(-1)?.id ?? id) > id;
    return score(
      'open',
      hasGoneOn ? 'it does not know of a payout yet' : 'it has not read the status or tried again yet',
    );
  };

  const all: OverrideScore[] = [];
  for (const { id, taken } of overrides) {
    const changed = taken === 0 ? [] : (met.get(id)?.slice(-taken) ?? []);
    const scores = yield* inSteps(changed, scoreOf);
    const worst = WORST.map((verdict) => scores.find((one) => one.verdict === verdict)).find(Boolean);
    const isKnown = worst !== undefined && (worst.verdict === 'failed' || scores.length === taken);
    all.push({ id, taken, ...(taken === 0 ? WAITING : isKnown ? worst : INCOMPLETE) });
  }
  return all;
}

import type { OverrideScore, WorldReport } from '../contract/conduct.ts';
import type { JournalEntry } from '../contract/control-responses.ts';
import type { Evidence } from './case.ts';

type Score = Pick<OverrideScore, 'verdict' | 'reason' | 'requests'>;

/** What the client has made of one request that a rule changed. */
function scoreOf(
  entry: JournalEntry,
  { requests, ledger, clientEnded }: Evidence,
  { checks }: WorldReport,
): Score {
  const { id, client_ref_id: ref } = entry;
  for (const { id: check, findings } of checks) {
    const wrong = findings.find(
      (one) =>
        one.severity !== 'notice' &&
        (one.requests.includes(id) || (ref !== null && one.references.includes(ref))),
    );
    if (wrong) return { verdict: 'failed', reason: `${check}: ${wrong.message}`, requests: wrong.requests };
  }
  const later = requests.filter((one) => one.id > id && one.client_ref_id === ref && ref !== null);
  const shown = [id, ...later.map((one) => one.id)];
  const payouts = ledger.payouts.filter((payout) => payout.client_ref_id === ref);
  if (payouts.length > 0 && payouts.every(({ told }) => told !== null))
    return { verdict: 'survived', reason: 'it knows of its payout', requests: shown };
  if (checks.some(({ more }) => more > 0))
    return { verdict: 'open', reason: 'the report leaves findings out', requests: shown };
  if (clientEnded) return { verdict: 'survived', reason: 'it has ended without a finding', requests: shown };
  const reason =
    later.length === 0 ? 'it has not asked or tried again yet' : 'it does not know of a payout yet';
  return { verdict: 'open', reason, requests: shown };
}

const WORST = ['failed', 'open', 'survived'] as const;

/** What the client has made of all requests that a rule changed. @param taken how many they are */
function scoreOfRule(id: string, taken: number, evidence: Evidence, report: WorldReport): Score {
  if (taken === 0) return { verdict: 'waiting', reason: 'no request has met it', requests: [] };
  const met = evidence.requests.filter(({ rule }) => rule === id).slice(-taken);
  const scores = met.map((entry) => scoreOf(entry, evidence, report));
  const worst = WORST.map((verdict) => scores.find((one) => one.verdict === verdict)).find(Boolean);
  if (worst !== undefined && (worst.verdict === 'failed' || met.length === taken)) return worst;
  return { verdict: 'open', reason: 'not all requests that met it are in the journal', requests: [] };
}

/** What the client has made of each override. @param report on the same evidence */
export const scoresOf = (evidence: Evidence, report: WorldReport): OverrideScore[] =>
  (evidence.overrides ?? []).map(({ id, taken }) => {
    const { verdict, reason, requests } = scoreOfRule(id, taken, evidence, report);
    return { id, taken, verdict, reason, requests };
  });

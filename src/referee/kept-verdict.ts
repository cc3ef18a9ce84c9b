import type { CheckReport, Finding, WorldReport } from '../contract/conduct.ts';
import { groupedBy, type Evidence } from './case.ts';
import { mergedReport, reportOf, withFewFindings } from './judge.ts';
import { isOut } from './payments.ts';

/**
 * The verdict on the journals that a world has lost: to a reset, a restore, an undo or a clearing. What comes back is judged with the
 * present journal, and what was kept on it gives way.
 */

/** How many findings of each check a kept verdict and a report on all worlds have; the others are counted. */
export const FEW_FINDINGS = 5;

/** What a world can lose its journal to. */
export type Loss = 'reset' | 'restore' | 'undo' | 'clearing' | 'drop';

/** After these the client goes on with the same payouts, so that expected ones may still be made. */
const GOES_ON: ReadonlySet<Loss> = new Set(['undo', 'clearing']);

export const isOver = (loss: Loss): boolean => !GOES_ON.has(loss);

/** What a kept finding, or reason for none, says in addition. A world that was dropped has nothing else to report. */
const KEPT: Readonly<Record<Loss, string>> = {
  reset: ' (from before a reset)',
  restore: ' (from before a restore)',
  undo: ' (from before an undo)',
  clearing: ' (from before the journal was cleared)',
  drop: '',
};

/** The verdict on one journal that a world has lost. */
export interface Part {
  readonly report: WorldReport;
  /** Absent where an older version kept it. */
  readonly loss?: Loss | undefined;
  /** The id of the last request of the journal; null where it had none. Where that request is, the whole journal is. */
  readonly last: string | null;
  /** The ids of the requests that the findings show, by their numbers. */
  readonly requestIds: Readonly<Record<number, string>>;
}

type Requests = Evidence['requests'];

/** How many of the latest parts of a verdict are kept apart: older ones are joined, and no journal of theirs comes back. */
const PARTS = 10;

/** A verdict on a client that goes on: what it has not asked for is neither found nor passed. */
const withOpenEnd = (report: WorldReport): WorldReport =>
  without(report, ({ id }) => id === 'never-asked', {
    verdict: 'inconclusive',
    reason: 'the client was not done',
  });

/** A report without some findings. @param left what a check becomes that has none left */
function without(
  report: WorldReport,
  isGone: (check: CheckReport, finding: Finding) => boolean,
  left: Pick<CheckReport, 'verdict' | 'reason'>,
): WorldReport {
  const counts = { ...report.counts };
  const checks = report.checks.map((check): CheckReport => {
    const findings = check.findings.filter((finding) => !isGone(check, finding));
    if (findings.length === check.findings.length) return check;
    for (const finding of check.findings) if (isGone(check, finding)) counts[finding.severity] -= 1;
    return findings.length + check.more > 0 ? { ...check, findings } : { ...check, findings, ...left };
  });
  return reportOf(report, checks, counts, report.duration_ms);
}

export const idsOf = (requests: Requests): ReadonlySet<string> =>
  new Set(requests.map(({ request_id }) => request_id));

/** What of a verdict a world does not have again or still: the rest is judged with its present journal and ledger. @param now what it has; null for nothing */
function leftOf(report: WorldReport, requestIds: Part['requestIds'], now: Evidence | null): WorldReport {
  const present = idsOf(now?.requests ?? []);
  const paid = groupedBy(
    now?.ledger.payouts.filter(({ status }) => isOut(status)) ?? [],
    ({ client_ref_id }) => client_ref_id,
  );
  const isGone = ({ id }: CheckReport, { requests, references }: Finding): boolean => {
    if (id === 'paid-more-often' && references.length === 1 && paid.get(references[0]!)?.[1]) return true;
    return requests.length > 0 && requests.every((nth) => present.has(requestIds[nth] ?? ''));
  };
  return without(report, isGone, { verdict: 'not_exercised', reason: null });
}

export const isThere = (id: string | null | undefined, present: ReadonlySet<string>): boolean =>
  typeof id === 'string' && present.has(id);

/** The parts on journals that a world does not have again. */
function lost(parts: readonly Part[], now: Evidence | null): readonly Part[] {
  const present = idsOf(now?.requests ?? []);
  return parts
    .filter(({ last }) => !isThere(last, present))
    .map(({ report, loss, last, requestIds }) => ({
      report: leftOf(report, requestIds, now),
      loss,
      last,
      requestIds,
    }));
}

/** The parts on journals that were lost since the last reset. */
export function sinceReset(parts: readonly Part[], now: Evidence | null): readonly Part[] {
  const left = lost(parts, now);
  return left.slice(left.findLastIndex(({ loss }) => loss === 'reset') + 1);
}

/** The kept verdicts on what a world does not have again, and on the rest its present report. @param now what it has; null for nothing */
export function together(
  parts: readonly Part[],
  now: Evidence | null,
  report: WorldReport | null,
): WorldReport | null {
  const reports = lost(parts, now).map((part) => part.report);
  return [...reports, ...(report === null ? [] : [report])].reduce<WorldReport | null>(
    (earlier, later) => (earlier === null ? later : mergedReport(earlier, later)),
    null,
  );
}

export const partsIn = (text: string | null): readonly Part[] =>
  text === null ? [] : (JSON.parse(text) as readonly Part[]);

/** What is kept of the report on a journal. @param after what the world has since; null for nothing */
export function partOf(report: WorldReport, requests: Requests, loss: Loss, after: Evidence | null): Part {
  const ids = new Map(requests.map(({ id, request_id }) => [id, request_id]));
  const whole = isOver(loss) ? report : withOpenEnd(report);
  const few = saying(
    KEPT[loss],
    withFewFindings(leftOf(whole, Object.fromEntries(ids), after), FEW_FINDINGS),
  );
  const shown = new Set(
    few.checks.flatMap(({ findings }) => findings.flatMap((finding) => finding.requests)),
  );
  const requestIds = Object.fromEntries([...ids].filter(([nth]) => shown.has(nth)));
  return { report: few, loss, last: requests.at(-1)?.request_id ?? null, requestIds };
}

const saying = (what: string, report: WorldReport): WorldReport => ({
  ...report,
  checks: report.checks.map((check) => ({
    ...check,
    reason: check.verdict === 'inconclusive' && check.reason !== null ? check.reason + what : check.reason,
    findings: check.findings.map((finding) => ({ ...finding, message: finding.message + what })),
  })),
});

/** Several parts as one, whose journals do not come back. */
function joined(parts: readonly Part[]): readonly Part[] {
  const report = together(parts, null, null);
  if (report === null) return [];
  return [{ ...parts.at(-1)!, report: withFewFindings(report, FEW_FINDINGS), last: null, requestIds: {} }];
}

/** The earlier parts, as they are kept beside the one on what a world had. */
export function earlierParts(parts: readonly Part[], had: Evidence): readonly Part[] {
  const left = lost(parts, had);
  const old = left.slice(0, Math.max(0, left.length - PARTS + 1));
  const reset = old.findLastIndex(({ loss }) => loss === 'reset') + 1; // what is from before it may be left out
  return [...joined(old.slice(0, reset)), ...joined(old.slice(reset)), ...left.slice(old.length)];
}

import type {
  CheckId,
  CheckReport,
  RefereeSettings,
  Severity,
  Verdict,
  WorldReport,
} from '../contract/conduct.ts';
import { bySeverity, CHECK_IDS } from '../contract/conduct.ts';
import { counted, listed } from '../contract/words.ts';
import { caseInSteps, inGroups, type Case, type Evidence } from './case.ts';
import { because, findingOf, type Check, type Evaluation } from './check.ts';
import { settingsText } from './intents.ts';
import { referenceReused, resentAfterSuccess, sameReferenceAtOnce } from './checks/one-reference.ts';
import {
  expectationMissed,
  neverAsked,
  notFoundBelieved,
  pendingLeft,
  reversalUnseen,
} from './checks/outcomes.ts';
import { amountNotPaise, refusalRepeated } from './checks/refused-requests.ts';
import {
  endlessRetry,
  noTimeout,
  pollStorm,
  resentByTransport,
  retryAfterIgnored,
} from './checks/retries.ts';
import { byIntent, paidMoreOften, paidTwice, samePayoutAtOnce } from './checks/second-payments.ts';
import { missingIn, referencesIn, resultOf, shortened, unreadIntent } from './reports/summary.ts';
import { inSteps, whole, type Steps } from '../world/steps.ts';
import { withoutControls } from '../world/journal/journal-text.ts';
import { evictedText } from '../world/journal/verification.ts';

const CHECKS: Readonly<Record<CheckId, Check>> = {
  'paid-twice': paidTwice,
  'same-payout-at-once': samePayoutAtOnce,
  'same-reference-at-once': sameReferenceAtOnce,
  'reference-reused': referenceReused,
  'paid-more-often': paidMoreOften,
  'resent-after-success': resentAfterSuccess,
  'never-asked': neverAsked,
  'not-found-believed': notFoundBelieved,
  'pending-left': pendingLeft,
  'reversal-unseen': reversalUnseen,
  'retry-after-ignored': retryAfterIgnored,
  'resent-by-transport': resentByTransport,
  'endless-retry': endlessRetry,
  'refusal-repeated': refusalRepeated,
  'poll-storm': pollStorm,
  'no-timeout': noTimeout,
  'amount-not-paise': amountNotPaise,
  'expectation-missed': expectationMissed,
};

/** How many findings of each check a report has; the others are counted. */
const MOST_FINDINGS = 100;

const without = (id: CheckId, verdict: Verdict, reason: string | null): CheckReport => ({
  id,
  verdict,
  severity: CHECKS[id].severity,
  reason: reason === null ? null : withoutControls(reason),
  findings: [],
  more: 0,
});

/** Why requests are missing, so that the absence of findings proves nothing; null when none is. */
function missingBecause({ evicted, dropped = null }: Evidence): string | null {
  return because(
    dropped !== null && `this world was dropped ${dropped}; reset it to start a new verdict`,
    evicted > 0 && evictedText(evicted),
  );
}

/** Why checks that look for second payments cannot pass; null when the journal has all payouts, or a table says what was to be paid. */
function forgottenBecause({ ledger }: Evidence, { expect }: RefereeSettings): string | null {
  const { forgotten = 0 } = ledger;
  if (forgotten === 0 || expect !== undefined) return null;
  const were = counted(forgotten, 'payout was', 'payouts were');
  return `${were} made by requests that were cleared from the journal, and may have been paid again`;
}

/** A check, and what it found. */
type Evaluated = Check & Evaluation & { readonly id: CheckId };

/** A report, and what it leaves out too. */
export interface Judgement {
  readonly report: WorldReport;
  readonly evaluated: readonly Evaluated[];
}

/** The report of one check, with all of its findings. */
function* checkReport(
  { id, severity: usual, isOfSecondPayments, isExercised, findings: found, unproven = null }: Evaluated,
  whyMissing: string | null,
  whyForgotten: string | null,
): Steps<CheckReport> {
  if (found.length > 0) {
    const findings = (yield* inSteps(found, (one) => findingOf(one, usual))).toSorted(bySeverity);
    const { severity } = findings[0]!;
    return { id, verdict: 'found', severity, reason: unproven, findings, more: 0 };
  }
  if (whyMissing !== null) return without(id, 'inconclusive', whyMissing);
  const whyOpen = (isExercised ? unproven : null) ?? (isOfSecondPayments ? whyForgotten : null);
  if (whyOpen !== null) return without(id, 'inconclusive', whyOpen);
  return without(id, isExercised ? 'passed' : 'not_exercised', null);
}

/**
 * Leaves out what a more severe finding of another check says about the same references. Of equal ones, the first check keeps it,
 * unless only the other names money.
 */
function* oncePerCause(checks: readonly CheckReport[]): Steps<readonly CheckReport[]> {
  const ofOnePayout = checks.flatMap(({ id, findings }, place) =>
    CHECKS[id].isOfOnePayout ? findings.map((finding) => ({ finding, place, id })) : [],
  );
  const placed = yield* inSteps(ofOnePayout, (one) => ({ ...one, known: new Set(one.finding.references) }));
  const byReference = yield* inGroups(
    placed.flatMap((one) => Array.from(one.known, (reference) => ({ one, reference }))),
    ({ reference }) => reference,
  );
  const leaderOf = ({ finding, place }: (typeof ofOnePayout)[number]): CheckId | undefined =>
    byReference.get(finding.references[0] ?? '')?.find(({ one: other }) => {
      const order = bySeverity(other.finding, finding);
      const saysAll = other.finding.amount !== null || finding.amount === null;
      const leads = order < 0 || (order === 0 && other.place < place && saysAll);
      const coversAll = finding.references.every((reference) => other.known.has(reference));
      return other.place !== place && leads && coversAll;
    })?.one.id;
  const leaders = new Map(yield* inSteps(placed, (one) => [one.finding, leaderOf(one)] as const));
  return checks.map((check) => {
    if (check.findings.length === 0) return check;
    const findings = check.findings.filter((finding) => leaders.get(finding) === undefined);
    if (findings.length > 0) return { ...check, findings, severity: findings[0]!.severity, reason: null };
    if (check.reason !== null) return without(check.id, 'inconclusive', check.reason); // of other payouts
    const all = new Set(check.findings.map((finding) => leaders.get(finding)!));
    return { ...check, findings, reason: `part of what ${listed([...all])} found` };
  });
}

/** In `unknown`, why requests are missing. */
type About = Omit<WorldReport, 'passed' | 'result' | 'counts' | 'checks'>;

/** @param found how many findings of each severity the checks have, also those that are left out */
function reportOf(
  { name, id, judged_by, unknown, references, duration_ms }: About,
  checks: readonly CheckReport[],
  found: Record<Severity, number>,
): WorldReport {
  const judged = (verdict: Verdict): number => checks.filter((check) => check.verdict === verdict).length;
  return {
    name: withoutControls(name),
    id,
    ...resultOf(found.error, unknown ?? unreadIntent([{ references }])),
    references,
    duration_ms,
    judged_by: judged_by === null ? null : withoutControls(judged_by),
    counts: {
      ...found,
      passed: judged('passed'),
      not_exercised: judged('not_exercised'),
      inconclusive: judged('inconclusive'),
      off: judged('off'),
    },
    checks: [...checks],
  };
}

/**
 * Judges how the client of one world behaved, in steps of some ms. Deterministic: the same evidence gives the same bytes.
 *
 * @param id what the report calls the world, unless the settings or the evidence name it
 */
export function* judging(id: string, evidence: Evidence, settings: RefereeSettings = {}): Steps<Judgement> {
  const facts = yield* caseInSteps(evidence, settings);
  const whyMissing = missingBecause(evidence);
  const whyForgotten = forgottenBecause(evidence, settings);
  const reports: CheckReport[] = [];
  const evaluated: Evaluated[] = [];
  for (const check of CHECK_IDS) {
    const whyOff = settings.off?.[check];
    if (whyOff === undefined) {
      evaluated.push({ ...CHECKS[check], id: check, ...(yield* CHECKS[check].evaluate(facts)) });
      reports.push(yield* checkReport(evaluated.at(-1)!, whyMissing, whyForgotten));
    } else reports.push(without(check, 'off', whyOff));
    yield;
  }
  const checks = yield* oncePerCause(reports);
  const found = { error: 0, warning: 0, notice: 0 };
  for (const { findings } of checks) for (const { severity } of findings) found[severity] += 1;
  const { read, unread } = byIntent(facts);
  const report = reportOf(
    {
      references: { read: read.length, unread: unread.length },
      name: settings.name ?? evidence.name ?? id,
      id: withoutControls(id),
      judged_by: settingsText(settings),
      unknown: whyMissing,
      duration_ms: durationMs(facts),
    },
    checks.map((check) => shortened(check, MOST_FINDINGS)),
    found,
  );
  return { report, evaluated };
}

/** The report at once. */
export const judge = (...judged: Parameters<typeof judging>): WorldReport => whole(judging(...judged)).report;

/** Wall time from the first request to the last end that is known. */
function durationMs({ calls }: Case): number {
  const ends = calls.map(({ beganMs, endedMs }) => (endedMs === Infinity ? beganMs : endedMs));
  return calls.length === 0 ? 0 : Math.round(ends.reduce((a, b) => Math.max(a, b)) - calls[0]!.beganMs);
}

/** Two journals together have the first of these verdicts that either of them has. */
const PRECEDENCE: readonly Verdict[] = ['found', 'inconclusive', 'passed', 'not_exercised', 'off'];

function mergedCheck(one: CheckReport, other: CheckReport): CheckReport {
  const leading = PRECEDENCE.indexOf(one.verdict) <= PRECEDENCE.indexOf(other.verdict) ? one : other;
  const findings = [...one.findings, ...other.findings].toSorted(bySeverity);
  return {
    ...leading,
    severity: findings[0]?.severity ?? leading.severity,
    reason: findings.length === 0 ? leading.reason : null,
    findings,
    more: one.more + other.more,
  };
}

/** A report with only the most severe findings of each check, which is bounded in size. */
export const withFewFindings = (report: WorldReport, most: number): WorldReport => ({
  ...report,
  checks: report.checks.map((check) => shortened(check, most)),
});

/** A report whose findings, and reasons for none, say that they are from before a reset. */
export const fromBeforeReset = (report: WorldReport): WorldReport => ({
  ...report,
  unknown: missingIn(report) === null ? report.unknown : `${report.unknown}${BEFORE_RESET}`,
  checks: report.checks.map((check) => ({
    ...check,
    reason: check.verdict === 'inconclusive' ? `${check.reason}${BEFORE_RESET}` : check.reason,
    findings: check.findings.map((found) => ({ ...found, message: found.message + BEFORE_RESET })),
  })),
});

const BEFORE_RESET = ' (from before a reset)';

function mergedPair(earlier: WorldReport, later: WorldReport): WorldReport {
  const checks = later.checks.map((check) => {
    const before = earlier.checks.find(({ id }) => id === check.id); // an older version may not have had it
    return shortened(before === undefined ? check : mergedCheck(before, check), MOST_FINDINGS);
  });
  const sum = (severity: Severity): number => earlier.counts[severity] + later.counts[severity];
  const found = { error: sum('error'), warning: sum('warning'), notice: sum('notice') };
  const references = referencesIn([earlier, later]);
  const unknown = missingIn(later) ?? missingIn(earlier);
  const duration_ms = earlier.duration_ms + later.duration_ms;
  return reportOf({ ...later, references, unknown, duration_ms }, checks, found);
}

/** The reports on one or more journals of one world, oldest first, added up. */
export const mergeReports = (reports: readonly WorldReport[]): WorldReport => reports.reduce(mergedPair);

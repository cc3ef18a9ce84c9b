import type { CheckId, CheckReport, ConductReports, Severity, WorldReport } from '../../contract/conduct.ts';
import { CHECK_IDS, SEVERITIES } from '../../contract/conduct.ts';

/** What the reports in text have in common. */

/** Findings at or above this severity are failures; never means that none are. */
export type FailOn = Severity | 'never';

const isAtLeast = (severity: Severity, failOn: FailOn): boolean =>
  failOn !== 'never' && SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(failOn);

export const isFailure = ({ verdict, severity }: CheckReport, failOn: FailOn): boolean =>
  verdict === 'found' && isAtLeast(severity, failOn);

/** Whether any finding is at or above this severity. */
export const hasFailed = ({ worlds }: ConductReports, failOn: FailOn): boolean =>
  worlds.some(({ checks }) => checks.some((check) => isFailure(check, failOn)));

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const reportsOf = (worlds: readonly WorldReport[]): ConductReports => ({
  passed: worlds.every(({ passed }) => passed),
  worlds: [...worlds],
});

/** The gravest findings first, then in the order of the checks. */
export const foundChecks = ({ checks }: WorldReport): readonly CheckReport[] =>
  checks
    .filter(({ verdict }) => verdict === 'found')
    .toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity));

const hasFindings = ({ counts }: WorldReport): boolean => counts.error + counts.warning + counts.notice > 0;

const gravest = ({ checks }: WorldReport): number =>
  Math.min(
    ...checks
      .filter(({ verdict }) => verdict === 'found')
      .map(({ severity }) => SEVERITIES.indexOf(severity)),
  );

/** The worlds with findings, those with the gravest first. */
export const foundWorlds = (worlds: readonly WorldReport[]): readonly WorldReport[] =>
  worlds.filter(hasFindings).toSorted((a, b) => gravest(a) - gravest(b));

/** One check in several worlds. */
interface CheckTally {
  readonly id: CheckId;
  readonly severity: Severity;
  /** In how many worlds it found something. */
  readonly worlds: number;
}

/** What was found in several worlds, the gravest first, and the checks that no request of any world tested. */
export function tallyOf(worlds: readonly WorldReport[]): {
  readonly found: readonly CheckTally[];
  readonly untested: readonly CheckId[];
} {
  const tallies = new Map<CheckId, CheckTally>();
  const untested = new Set<CheckId>(CHECK_IDS);
  for (const world of worlds) {
    for (const { id, verdict } of world.checks) if (verdict !== 'no_occasion') untested.delete(id);
    for (const { id, severity } of foundChecks(world)) {
      const before = tallies.get(id) ?? { id, severity, worlds: 0 };
      const isGraver = SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(before.severity);
      tallies.set(id, { id, severity: isGraver ? severity : before.severity, worlds: before.worlds + 1 });
    }
  }
  const found = [...tallies.values()].toSorted(
    (a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) || b.worlds - a.worlds,
  );
  return { found, untested: [...untested] };
}

/** `1 error`, `2 warnings`, `11 passed`, `6 no occasion`, without what is 0. */
export function countTexts({ counts }: WorldReport): readonly string[] {
  const { error, warning, notice, passed, no_occasion, inconclusive, off } = counts;
  const texts: readonly (readonly [number, string])[] = [
    [error, counted(error, 'error')],
    [warning, counted(warning, 'warning')],
    [notice, counted(notice, 'notice')],
    [passed, `${passed} passed`],
    [no_occasion, `${no_occasion} no occasion`],
    [inconclusive, `${inconclusive} inconclusive`],
    [off, `${off} off`],
  ];
  return texts.filter(([count]) => count > 0).map(([, text]) => text);
}

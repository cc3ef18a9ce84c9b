import type { CheckReport, ConductReports, Severity, WorldReport } from '../../contract/conduct.ts';
import { SEVERITIES } from '../../contract/conduct.ts';

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

export const hasFindings = ({ counts }: WorldReport): boolean =>
  counts.error + counts.warning + counts.notice > 0;

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

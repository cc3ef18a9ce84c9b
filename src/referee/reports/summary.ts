import type { CheckId, CheckReport, ConductReports, Finding, WorldReport } from '../../contract/conduct.ts';
import { bySeverity, CHECK_IDS, Severity } from '../../contract/conduct.ts';

/** What the reports have in common. */

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours a text, on a terminal. */
export type Paint = (text: string, colour: Colour) => string;

export const plain: Paint = (text) => text;

export const COLOURS: Readonly<Record<Severity, Colour>> = {
  error: 'red',
  warning: 'yellow',
  notice: 'cyan',
};

/** Findings at or above this severity are failures; never means that none are. */
export type FailOn = Severity | 'never';

export const isFailure = (check: CheckReport, failOn: FailOn): boolean =>
  check.findings.length > 0 && failOn !== 'never' && bySeverity(check, { severity: failOn }) <= 0;

/** Whether any finding is at or above this severity. */
export const hasFailed = ({ worlds }: ConductReports, failOn: FailOn): boolean =>
  worlds.some(({ checks }) => checks.some((check) => isFailure(check, failOn)));

export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

export const reportsOf = (worlds: readonly WorldReport[]): ConductReports => ({
  passed: worlds.length > 0 && worlds.every(({ passed }) => passed), // where nothing was judged, nothing passed
  worlds: [...worlds],
});

/** The reports of a run, and why it failed if it did for more than its findings. */
export interface RunReports extends ConductReports {
  readonly failure?: Failure;
}

export interface Failure {
  /** In two or three words. */
  readonly title: string;
  readonly reasons: readonly string[];
}

/** The checks that have findings: the most severe first, then in the order of the checks. */
export const foundChecks = ({ checks }: WorldReport): readonly CheckReport[] =>
  checks.filter(({ findings }) => findings.length > 0).toSorted(bySeverity);

/** A check with only its most severe findings. */
export function shortened(check: CheckReport, most: number): CheckReport {
  const findings = check.findings.slice(0, most);
  return { ...check, findings, more: check.more + check.findings.length - findings.length };
}

/** What a finding rests on, line by line, and how to fix it. */
export const detailLines = ({ lines, knew, fix }: Finding): readonly string[] => [
  ...lines,
  ...(knew === null ? [] : [`what the client knew about ${knew}`]),
  `fix: ${fix}`,
];

/** The worlds with findings, those with the most severe first. */
export const foundWorlds = (worlds: readonly WorldReport[]): readonly WorldReport[] =>
  worlds
    .map((world) => ({ world, worst: foundChecks(world)[0] }))
    .filter(({ worst }) => worst !== undefined)
    .toSorted((a, b) => bySeverity(a.worst!, b.worst!))
    .map(({ world }) => world);

/** What was found in how many worlds, the most severe first, and the checks that no request of any world tested. */
export function tallyOf(worlds: readonly WorldReport[]) {
  const tallies = new Map<CheckId, { id: CheckId; severity: Severity; worlds: number }>();
  const untested = new Set<CheckId>(CHECK_IDS);
  for (const world of worlds) {
    for (const { id, verdict } of world.checks) if (verdict !== 'not_exercised') untested.delete(id);
    for (const check of foundChecks(world)) {
      const { id } = check;
      const before = tallies.get(id) ?? { severity: check.severity, worlds: 0 };
      const { severity } = bySeverity(check, before) < 0 ? check : before;
      tallies.set(id, { id, severity, worlds: before.worlds + 1 });
    }
  }
  const found = [...tallies.values()].toSorted((a, b) => bySeverity(a, b) || b.worlds - a.worlds);
  return { found, untested: [...untested] };
}

/** `1 error`, `2 warnings`, `11 passed`, `6 not exercised`, without what is 0. */
export const countTexts = ({ counts }: WorldReport): readonly string[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => {
      const isSeverity = Severity.safeParse(what).success;
      return isSeverity ? counted(count, what) : `${count} ${what.replace('_', ' ')}`;
    });

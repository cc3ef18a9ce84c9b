import type { CheckReport, ConductReports, Finding, WorldReport } from '../../contract/conduct.ts';
import { bySeverity, type Severity } from '../../contract/conduct.ts';
import { counted } from '../../contract/words.ts';
import { groupedBy } from '../case.ts';

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

/** Whether any finding is at or above this severity, or requests are missing that could have shown one. */
export const hasFailed = ({ worlds }: ConductReports, failOn: FailOn): boolean =>
  failOn !== 'never' &&
  worlds.some(({ checks, unknown }) => unknown !== null || checks.some((check) => isFailure(check, failOn)));

type References = Pick<WorldReport, 'references'>;

/** How many references the intent reads, and how many it does not, in all of these together. */
export const referencesIn = (all: readonly References[]): WorldReport['references'] => ({
  read: all.reduce((sum, { references }) => sum + references.read, 0),
  unread: all.reduce((sum, { references }) => sum + references.unread, 0),
});

/** Why the intent of a run cannot be right: it reads none of the references that were sent; null if it reads any. */
export function unreadIntent(worlds: readonly References[]): string | null {
  const { read, unread } = referencesIn(worlds);
  if (read > 0 || unread === 0) return null;
  return `the intent reads none of ${counted(unread, 'reference')}, so a second payment under another reference would not be seen: declare one that the references of this client have`;
}

/** Why requests of a world are missing; null when all are there, also if its intent reads no reference. */
export const missingIn = (report: WorldReport): string | null =>
  report.unknown === unreadIntent([report]) ? null : report.unknown;

/** @param errors how many findings are errors @param unknown why others could be missing; null if none can */
export function resultOf(
  errors: number,
  unknown: string | null,
): Pick<WorldReport, 'passed' | 'result' | 'unknown'> {
  const result = errors > 0 ? 'failed' : unknown === null ? 'passed' : 'unknown';
  return { passed: result === 'passed', result, unknown };
}

/** The reports of a run. An intent that reads references in one of its worlds need not read any in the others. */
export function reportsOf(reports: readonly WorldReport[]): ConductReports {
  const unread = unreadIntent(reports);
  const worlds = reports.map((report) => ({
    ...report,
    ...(unread === null && resultOf(report.counts.error, missingIn(report))),
  }));
  const results = new Set(worlds.map(({ result }) => result));
  const isUnknown = worlds.length === 0 || results.has('unknown'); // where nothing was judged, nothing passed
  const result = results.has('failed') ? 'failed' : isUnknown ? 'unknown' : 'passed';
  return { passed: result === 'passed', result, worlds, notes: unread === null ? [] : [unread] };
}

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
    .filter((world) => foundChecks(world).length > 0)
    .toSorted((a, b) => bySeverity(foundChecks(a)[0]!, foundChecks(b)[0]!));

/** Worlds that can be told apart: those that share a name have their id after it. */
export function withDistinctNames(worlds: readonly WorldReport[]): readonly WorldReport[] {
  const alike = groupedBy(worlds, ({ name }) => name);
  return worlds.map((world) => {
    const { name, id } = world;
    return alike.get(name)!.length === 1 || name === id ? world : { ...world, name: `${name} (${id})` };
  });
}

/** Whether a report rests on requests: what is expected is missed also by a client that sent none. */
export const hasRequests = ({ checks }: WorldReport): boolean =>
  checks.some(
    ({ id, verdict }) => id !== 'expectation-missed' && !['not_exercised', 'off'].includes(verdict),
  );

/** Why there is nothing to judge. @param key in words */
export const noRequestsMessage = (key: string): string => `no request used ${key}: let the client use it`;

/** Whether a world had requests to judge, and no check could say that they were right or wrong. */
export const isNotJudged = ({ result, checks }: WorldReport): boolean =>
  result === 'unknown' ||
  (checks.some(({ verdict }) => verdict === 'inconclusive') &&
    checks.every(({ verdict }) => verdict !== 'passed' && verdict !== 'found'));

/** `2 worlds, 1 without findings · 3 checks passed · 9 checks had nothing to test`, in any world; without what is 0. */
export function worldsText(worlds: readonly WorldReport[]): string {
  const calm = worlds.filter((world) => foundChecks(world).length === 0);
  const notJudged = calm.filter(isNotJudged).length;
  const counts = [
    [calm.length - notJudged, 'without findings'],
    [notJudged, 'not judged'],
    [worlds.filter(({ counts: { inconclusive } }) => inconclusive > 0).length, 'with inconclusive checks'],
  ] as const;
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  const checks = worlds.flatMap((world) => world.checks);
  const groups = [...groupedBy(checks, ({ id }) => id).values()];
  const verdicts = groups.map((group) => group.map(({ verdict }) => verdict));
  const passed = verdicts.filter((all) => all.includes('passed') && !all.includes('found')).length;
  const untested = verdicts.filter((all) => all.every((verdict) => verdict === 'not_exercised')).length;
  const ofWorlds = [counted(worlds.length, 'world'), ...said].join(', ');
  return [ofWorlds, ...countedTexts({ passed, not_exercised: untested })].join(' · ');
}

/** `1 error`, `2 checks passed`, without what is 0 */
const countedTexts = (counts: Readonly<Record<string, number>>): readonly string[] =>
  Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([what, count]) =>
      what in COLOURS
        ? counted(count, what)
        : `${counted(count, 'check')} ${what === 'not_exercised' ? 'had nothing to test' : what}`,
    );

/** `1 error · 2 checks passed · 17 checks had nothing to test`, without what is 0; first whether the result is unknown. */
export const countText = ({ counts, result }: WorldReport): string =>
  [...(result === 'unknown' ? ['unknown'] : []), ...countedTexts(counts)].join(' · ');

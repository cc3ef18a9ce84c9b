import type { CheckReport, ConductReports, Finding, Verdict, WorldReport } from '../../contract/conduct.ts';
import { counted } from '../../contract/words.ts';
import { groupedBy } from '../case.ts';
import {
  COLOURS,
  countText,
  detailLines,
  foundChecks,
  foundWorlds,
  plain,
  shortened,
  withDistinctNames,
  worldsText,
  type Paint,
} from './summary.ts';

const MOST_WORLDS = 50;
const MOST_FINDINGS = 5;

/** Aligns the second column of lines, which begins after two spaces. */
function aligned(lines: readonly string[]): string[] {
  const split = lines.map((line) => {
    const at = line.indexOf('  ');
    return at === -1 ? ([line, ''] as const) : ([line.slice(0, at), line.slice(at + 2)] as const);
  });
  const width = Math.max(...split.map(([first]) => first.length), 0);
  return split.map(([first, second]) => `${first.padEnd(width)}   ${second}`.trimEnd());
}

const INDENT = ' '.repeat(11);

function findingLines(id: string, found: Finding, paint: Paint): readonly string[] {
  const { severity, message, lines } = found;
  return [
    `  ${paint(severity.padEnd(7), COLOURS[severity])}  ${id}   ${message}`,
    ...detailLines({ ...found, lines: aligned(lines) }).map((line) => INDENT + line),
  ];
}

/** The findings of one check. */
export function checkLines(check: CheckReport, paint: Paint): readonly string[] {
  const { id, findings, more } = shortened(check, MOST_FINDINGS);
  return [
    ...findings.flatMap((found) => findingLines(id, found, paint)),
    ...(more === 0 ? [] : [`${INDENT}and ${more} more of ${id}`]),
  ];
}

const VERDICTS: Readonly<Record<Verdict, string>> = {
  found: 'found',
  passed: 'passed',
  not_exercised: 'nothing to test',
  inconclusive: 'inconclusive',
  off: 'off',
};
const VERDICT_WIDTH = Math.max(...Object.values(VERDICTS).map(({ length }) => length));

/** Each check without findings, with its reason where it has one. */
const checkList = ({ checks }: WorldReport): readonly string[] =>
  checks
    .filter(({ findings }) => findings.length === 0)
    .map(({ id, verdict, reason }) => {
      const why = reason === null ? '' : `: ${reason}`;
      return `  ${VERDICTS[verdict].padEnd(VERDICT_WIDTH)}  ${id}${why}`;
    });

/** How many reasons are shown: those of most worlds. */
const MOST_REASONS = 20;

/** Why checks are inconclusive: those with one reason together, and of several worlds how many. */
function openLines(worlds: readonly WorldReport[]): readonly string[] {
  const open = worlds.flatMap(({ checks }) => checks.filter(({ verdict }) => verdict === 'inconclusive'));
  const inWorlds = (checks: readonly CheckReport[]): string =>
    worlds.length === 1 ? '' : ` in ${counted(checks.length, 'world')}`;
  const alike = groupedBy(open, ({ id, reason }) => `${id} ${reason}`).values();
  const rows = groupedBy(alike, (checks) => inWorlds(checks) + `: ${checks[0]!.reason}`);
  return [...rows]
    .toSorted(([, [a]], [, [b]]) => b!.length - a!.length)
    .slice(0, MOST_REASONS)
    .map(([why, groups]) => `  inconclusive  ${groups.map(([check]) => check!.id).join(', ')}${why}`);
}

function worldLines(world: WorldReport, paint: Paint, isVerbose: boolean): readonly string[] {
  return [
    `world ${paint(world.name, 'bold')}`,
    ...foundChecks(world).flatMap((check) => checkLines(check, paint)),
    ...(isVerbose ? checkList(world) : openLines([world])),
    `  ${countText(world)}`,
  ];
}

/** The report as lines for people. @param isVerbose whether it has each check of every world */
export function terminalText(reports: ConductReports, paint = plain, isVerbose = false): string {
  const worlds = withDistinctNames(reports.worlds);
  const found = foundWorlds(worlds);
  const detailed = isVerbose || worlds.length === 1 ? worlds : found.slice(0, MOST_WORLDS);
  const lines = detailed.flatMap((world) => worldLines(world, paint, isVerbose));
  if (worlds.length !== 1) {
    const left = found.length - detailed.length;
    if (left > 0) lines.push(`and ${counted(left, 'world')} more with findings`);
    lines.push(worldsText(worlds), ...openLines(worlds));
  }
  lines.push(...reports.notes.map((note) => `note: ${note}`));
  return `${lines.join('\n')}\n`;
}

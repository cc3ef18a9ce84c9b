import type { CheckReport, ConductReports, Finding, WorldReport } from '../../contract/conduct.ts';
import { counted } from '../../contract/words.ts';
import { groupedBy } from '../case.ts';
import {
  COLOURS,
  countText,
  detailLines,
  foundChecks,
  foundWorlds,
  isNotJudged,
  plain,
  shortened,
  withDistinctNames,
  worldsText,
  type Paint,
  type RunReports,
} from './summary.ts';

const MOST_WORLDS = 50;
const MOST_FINDINGS = 5;

/** Aligns the second column of lines, which begins after two spaces. */
function aligned(lines: readonly string[]): string[] {
  const split = lines.map((line) => {
    const [first = '', ...others] = line.split('  ');
    return [first, others.join('  ')] as const;
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

const NOT_EXERCISED = 'nothing to test';

/** Each check without findings, with its reason where it has one. */
const checkList = ({ checks }: WorldReport): readonly string[] =>
  checks
    .filter(({ findings }) => findings.length === 0)
    .map(({ id, verdict, reason }) => {
      const why = reason === null ? '' : `: ${reason}`;
      const shown = verdict === 'not_exercised' ? NOT_EXERCISED : verdict;
      return `  ${shown.padEnd(NOT_EXERCISED.length)}  ${id}${why}`;
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

/** A step summary of GitHub may have 1 MiB. */
const MOST_BYTES = 1_000_000;

/** In a code block, only a fence could end it. */
export const fenced = (lines: readonly string[]): string =>
  ['```', ...lines.map((line) => line.replaceAll('```', "'''")), '```'].join('\n');

function titleOf({ result, worlds, failure }: RunReports): string {
  if (failure !== undefined) return failure.title;
  if (result !== 'passed') return result;
  if (worlds.every(isNotJudged)) return 'not judged';
  const warnings = worlds.reduce((sum, { counts }) => sum + counts.warning, 0);
  return warnings === 0 ? 'passed' : `passed, with ${counted(warnings, 'warning')}`;
}

/** The first of these lines that fit, and a last one that says how many do not. */
function fitting(lines: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = lines.findIndex((line) => (bytes += Buffer.byteLength(line) + 1) > MOST_BYTES);
  return end === -1 ? lines : [...lines.slice(0, end), `and ${counted(lines.length - end, 'line')} more`];
}

/** The report as Markdown of less than 1 MiB: a title, and the report for people in a block, where no text of a client is markup. */
export function markdownText(reports: RunReports): string {
  const lines = terminalText(reports).trimEnd().split('\n');
  const reasons = reports.failure?.reasons ?? [];
  return `## Payout referee: ${titleOf(reports)}\n\n${fenced(fitting([...reasons, ...lines]))}\n`;
}

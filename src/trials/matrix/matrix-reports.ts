import { junitTime, xml } from '../../referee/reports/junit.ts';
import { fenced, literal } from '../../referee/reports/markdown.ts';
import { timeText } from '../../contract/duration.ts';
import { hasFailed, type Cell } from './cells.ts';
import { countLine, suspectLines } from './table.ts';

/** The matrix as reports in files. */

/** The cells of each kind of row, without a kind that has none. */
const groupsOf = (cells: readonly Cell[]) =>
  (['dialect', 'scenario'] as const)
    .map((kind) => [kind, cells.filter((cell) => cell.kind === kind)] as const)
    .filter(([, own]) => own.length > 0);

const iconOf = (cell: Cell): string => (hasFailed(cell) ? '❌' : cell.verdict === 'survives' ? '✅' : '🟡');

const tableOf = (kind: Cell['kind'], cells: readonly Cell[]): readonly string[] => [
  `| ${kind} | result | met | time |`,
  '| --- | --- | --- | --- |',
  ...cells.map(
    (cell) =>
      `| ${literal(cell.name)} | ${iconOf(cell)} ${cell.verdict} | ${cell.met} | ${timeText(cell.durationMs)} |`,
  ),
  '',
];

const failureText = ({ name, verdict, why, again }: Cell): readonly string[] => [
  `### ${literal(name)}: ${verdict}`,
  '',
  fenced(why.concat('', again)),
  '',
];

/** Tables of dialects and of scenarios, then each failing cell with its reason and the command that runs it again. */
export function matrixMarkdown(cells: readonly Cell[]): string {
  const failed = cells.filter(hasFailed);
  return [
    `## Payout matrix: ${failed.length === 0 ? 'passed' : 'failed'}`,
    '',
    ...suspectLines(cells).flatMap((line) => [literal(line), '']),
    countLine(cells),
    '',
    ...groupsOf(cells).flatMap(([kind, own]) => tableOf(kind, own)),
    ...failed.flatMap(failureText),
  ].join('\n');
}

const secondsIn = (cells: readonly Cell[]): string =>
  junitTime(cells.reduce((sum, { durationMs }) => sum + durationMs, 0));

function testCase(cell: Cell): string {
  const { kind, name, verdict, why, again } = cell;
  const open = `    <testcase classname="${kind}" name="${xml(name)}" time="${secondsIn([cell])}"`;
  if (verdict === 'not exercised')
    return `${open}>\n      <skipped message="not exercised: the client saw nothing of it" />\n    </testcase>`;
  if (!hasFailed(cell)) return `${open} />`;
  const text = xml([...why, '', again].join('\n'));
  return `${open}>\n      <failure type="${verdict}" message="${xml(why[0] ?? verdict)}">${text}</failure>\n    </testcase>`;
}

const counts = (cells: readonly Cell[]): string =>
  `tests="${cells.length}" failures="${cells.filter(hasFailed).length}" errors="0" skipped="${cells.filter(({ verdict }) => verdict === 'not exercised').length}" time="${secondsIn(cells)}"`;

const suite = (kind: Cell['kind'], cells: readonly Cell[]): readonly string[] => [
  `  <testsuite name="${kind}s" ${counts(cells)}>`,
  ...cells.map(testCase),
  '  </testsuite>',
];

/** The matrix as JUnit XML: dialects and scenarios are suites, a cell is a case. */
export const matrixJunit = (cells: readonly Cell[]): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="payout matrix" ${counts(cells)}>`,
    ...groupsOf(cells).flatMap(([kind, own]) => suite(kind, own)),
    '</testsuites>\n',
  ].join('\n');

export const matrixJson = (cells: readonly Cell[]): string => `${JSON.stringify({ cells }, null, 2)}\n`;

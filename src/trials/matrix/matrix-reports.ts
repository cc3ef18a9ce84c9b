import { junitDocument } from '../../referee/reports/junit.ts';
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

function junitCase(cell: Cell) {
  const { kind: classname, name, verdict, why, again, durationMs: ms } = cell;
  const failure = { type: verdict, message: why[0] ?? verdict, text: [...why, '', again].join('\n') };
  return {
    classname,
    name,
    ms,
    failure: hasFailed(cell) ? failure : undefined,
    skipped: verdict === 'not exercised' ? 'not exercised: the client saw nothing of it' : undefined,
  };
}

/** The matrix as JUnit XML: dialects and scenarios are suites, a cell is a case. */
export const matrixJunit = (cells: readonly Cell[]): string =>
  junitDocument(
    'payout matrix',
    groupsOf(cells).map(([kind, own]) => ({ name: `${kind}s`, cases: own.map(junitCase) })),
  );

export const matrixJson = (cells: readonly Cell[]): string => `${JSON.stringify({ cells }, null, 2)}\n`;

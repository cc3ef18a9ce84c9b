import { timeText } from '../../contract/duration.ts';
import { often, totalIn, totalText } from '../../referee/payments.ts';
import { junitDocument } from '../../referee/reports/junit.ts';
import { fenced, literal } from '../../referee/reports/markdown.ts';
import { counted, type Paint } from '../../referee/reports/summary.ts';
import { hasFailed, VERDICTS, type Cell, type CellVerdict, type Row } from './cells.ts';
import type { Baseline } from './matrix.ts';

/** The matrix as lines for people, then as reports in files. */

const VERDICT_WIDTH = Math.max(...VERDICTS.map(({ length }) => length));
const INDENT = ' '.repeat(4);

export function baselineLines({ durationMs, requests, expected, isFlaky }: Baseline): readonly string[] {
  const payouts = totalText(totalIn(expected));
  const first = `baseline: ${counted(requests, 'request')}, ${payouts} expected, ${timeText(durationMs)}`;
  if (!isFlaky) return [first];
  return [first, 'two baseline runs did not pay the same: only what both paid is compared'];
}

/** One line, and below a failing cell the reason and the command that runs it again. @param rows all rows, whose names share a column */
export function cellLines(cell: Cell, rows: readonly Row[], paint: Paint): readonly string[] {
  const { name, verdict, why, durationMs, met, again } = cell;
  const width = Math.max(...rows.map((row) => row.name.length));
  const colour = hasFailed(cell) ? 'red' : verdict === 'survives' ? 'green' : 'yellow';
  const shown = paint(verdict.padEnd(VERDICT_WIDTH), colour);
  const times = met === 0 ? 'no response showed what it changes' : `met ${often(met)}`;
  const line = [`${name.padEnd(width)}  ${shown}  ${timeText(durationMs).padStart(7)}`, times].join('  ');
  if (!hasFailed(cell)) return [why.length === 0 ? line : `${line}; ${why[0]}`];
  return [line, ...why.map((text) => (INDENT + text).trimEnd()), `${INDENT}run again: ${again}`];
}

const COUNTED: Readonly<Record<CellVerdict, string>> = {
  survives: 'survive',
  'not exercised': 'not exercised',
  'tests fail': 'with failing tests',
  misreported: 'misreported',
  conduct: 'with bad conduct',
  money: 'with wrong money',
  hangs: 'hang',
};

/** `57 cells: 54 survive, 2 with failing tests, 1 with wrong money` */
export function countLine(cells: readonly Cell[]): string {
  const counts = VERDICTS.map(
    (verdict) => [verdict, cells.filter((cell) => cell.verdict === verdict).length] as const,
  )
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${COUNTED[verdict]}`);
  const all = counted(cells.length, 'cell');
  return counts.length === 0 ? all : `${all}: ${counts.join(', ')}`;
}

/**
 * The choices that only failing dialects make, such as `status.unknown=400 (3 rows)`, and the failing rows that have none
 * of them. A single row does not show which of its choices is to blame.
 */
export function suspectLines(cells: readonly Cell[]): readonly string[] {
  const dialects = cells.filter(({ kind }) => kind === 'dialect');
  const failed = dialects.filter(hasFailed);
  const choicesOf = ({ choices }: Cell): readonly string[] => choices.split('+');
  const cleared = new Set(dialects.filter((cell) => !hasFailed(cell)).flatMap(choicesOf)); // also where it was not exercised
  const counts = new Map<string, number>();
  for (const choice of failed.flatMap(choicesOf)) {
    if (!cleared.has(choice)) counts.set(choice, (counts.get(choice) ?? 0) + 1);
  }
  const suspects = [...counts].filter(([, count]) => count > 1).toSorted(([, a], [, b]) => b - a);
  if (suspects.length === 0) return [];
  const names = new Set(suspects.map(([choice]) => choice));
  const others = failed.filter((cell) => !choicesOf(cell).some((choice) => names.has(choice)));
  return [
    `only failing dialects have: ${suspects.map(([choice, count]) => `${choice} (${count} rows)`).join(', ')}`,
    ...(others.length === 0
      ? []
      : [`failing without any of these: ${others.map(({ name }) => name).join(', ')}`]),
  ];
}

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
function matrixMarkdown(cells: readonly Cell[]): string {
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
    skipped: verdict === 'not exercised' ? 'not exercised: no response showed what it changes' : undefined,
  };
}

/** The matrix as JUnit XML: dialects and scenarios are suites, a cell is a case. */
export const matrixJunit = (cells: readonly Cell[]): string =>
  junitDocument(
    'payout matrix',
    groupsOf(cells).map(([kind, own]) => ({ name: `${kind}s`, cases: own.map(junitCase) })),
  );

export const MATRIX_WRITERS = {
  markdown: matrixMarkdown,
  junit: matrixJunit,
  json: (cells: readonly Cell[]): string => `${JSON.stringify({ cells }, null, 2)}\n`,
};

import { timeText } from '../../contract/times.ts';
import { counted } from '../../contract/words.ts';
import { totalIn, totalText } from '../../referee/payments.ts';
import { junitDocument } from '../../referee/reports/junit.ts';
import { fenced } from '../../referee/reports/terminal.ts';
import { plain, type Paint } from '../../referee/reports/summary.ts';
import { VERDICTS, type Baseline, type Cell, type MatrixRow } from './matrix.ts';

/** The matrix as lines for people, then as reports in files. */

const VERDICT_WIDTH = Math.max(...Object.keys(VERDICTS).map(({ length }) => length));
const INDENT = ' '.repeat(4);

export function baselineLines(baseline: Baseline): readonly string[] {
  const { durationMs, requests, expected, isFlaky, warnings } = baseline;
  const payouts = totalText(totalIn(expected));
  return [
    `baseline: ${counted(requests, 'request')}, ${payouts} expected, ${timeText(durationMs)}`,
    ...warnings.map((line) => `${INDENT}${line}`),
    ...(isFlaky ? ['two baseline runs did not pay the same: only what both paid is compared'] : []),
  ];
}

const NOTHING_SEEN = 'no response showed what it changes';

const titleOf = ({ kind, name }: MatrixRow): string => `${kind} ${name}`;

/**
 * One line, and below a failing cell the reason and the command that runs it again. A cell that was not exercised has no line:
 * the last line counts them. @param rows all rows, whose names share a column
 */
export function cellLines(cell: Cell, rows: readonly MatrixRow[], paint: Paint): readonly string[] {
  const { verdict, failed, why, durationMs, seen, again } = cell;
  if (verdict === 'not exercised') return [];
  const width = Math.max(...rows.map((row) => titleOf(row).length));
  const colour = failed ? 'red' : verdict === 'survives' ? 'green' : 'yellow';
  const shown = paint(verdict.padEnd(VERDICT_WIDTH), colour);
  const shows = seen === 0 ? NOTHING_SEEN : `seen in ${counted(seen, 'response')}`;
  const line = [titleOf(cell).padEnd(width), shown, timeText(durationMs).padStart(7), shows].join('  ');
  if (!failed && why.length < 2) return [[line, ...why].join('; ')];
  const below = [...why, ...(failed ? [`run again: ${again}`] : [])];
  return [line, ...below.map((text) => (INDENT + text).trimEnd())];
}

const WHERE_SEEN = 'a client that retries sees more of a dialect under --scenario reset-after-commit';

/** `37 runs: 34 survive, 2 with failing tests, 1 with wrong money` */
export function countLine(cells: readonly Cell[]): string {
  const counts = Object.entries(VERDICTS).flatMap(([verdict, words]) => {
    const count = cells.filter((cell) => cell.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const line = [counted(cells.length, 'run'), counts.join(', ')].filter(Boolean).join(': ');
  const isDialectUnseen = cells.some(
    ({ kind, verdict }) => kind === 'dialect' && verdict === 'not exercised',
  );
  return isDialectUnseen ? `${line}; ${WHERE_SEEN}` : line;
}

function junitCase(cell: Cell) {
  const { kind: classname, name, verdict, failed, why, again, durationMs: ms } = cell;
  const failure = { type: verdict, message: why[0] ?? verdict, text: [...why, '', again].join('\n') };
  return {
    classname,
    name,
    ms,
    failure: failed ? failure : undefined,
    skipped: verdict === 'not exercised' ? `not exercised: ${NOTHING_SEEN}` : undefined,
  };
}

export const MATRIX_WRITERS: Readonly<Record<string, (cells: readonly Cell[]) => string>> = {
  markdown: (cells) =>
    [
      `## Payout matrix: ${cells.some(({ failed }) => failed) ? 'failed' : 'passed'}`,
      '',
      fenced([...cells.flatMap((cell) => cellLines(cell, cells, plain)), '', countLine(cells)]),
      '',
    ].join('\n'),
  junit: (cells) => junitDocument('payout matrix', [{ name: 'matrix', cases: cells.map(junitCase) }]),
  json: (cells) => `${JSON.stringify({ runs: cells }, null, 2)}\n`,
};

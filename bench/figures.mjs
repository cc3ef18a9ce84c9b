// The figures of a bench: each is told when it is known, and all of them as a table at the end.
import { cpus, totalmem } from 'node:os';

const rows = [];

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

export const note = (text) => process.stderr.write(`${text}\n`);

/** What it was measured on. */
export const machine = () =>
  `${cpus()[0].model.trim()}, ${cpus().length} cores, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node.js ${process.version}`;

/** Adds a figure. @param target what it must not pass; Infinity for one that has none */
export function figure(what, value, unit, target = Infinity, isOver = (measured) => measured > target) {
  const hasTarget = Number.isFinite(target);
  const verdict = !hasTarget ? '' : isOver(value) ? 'OVER' : 'ok';
  const digits = Math.abs(value) < 10 ? 2 : Math.abs(value) < 1000 ? 1 : 0;
  const bound = hasTarget ? `${target} ${unit}` : '';
  const cells = [what, bound, `${value.toFixed(digits)} ${unit}`, verdict];
  rows.push(cells);
  note(cells.join(' | '));
}

/** A figure that must not be below a target. */
export const atLeast = (what, value, unit, target) =>
  figure(what, value, unit, target, (measured) => measured < target);

export function printTable() {
  const table = [['figure', 'target', 'measured', ''], ...rows];
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)));
  const lines = table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
  process.stdout.write(`${machine()}\n\n${lines.join('\n')}\n`);
}

import { styleText } from 'node:util';
import type { TransactionResponse } from '../contract/control-responses.ts';
import type { Colour, Paint } from '../referee/reports/summary.ts';

/** How responses of a sandbox are written for people: rupees, times, aligned columns, colours. */

// without `false`, Node.js would check the terminal again, and find no colours where TERM is missing
export const inColour: Paint = (text, colour) => styleText(colour, text, { validateStream: false });

/** The sequences of `inColour`, and characters that control a terminal or reorder text. Joiners are part of Indian scripts. */
// oxlint-disable-next-line no-control-regex -- they are what it looks for
const HIDDEN = /\u001B\[(?:1|2|22|3[1236]|39)m|(?![\n\t\u200C\u200D])\p{C}/gu;

/** What makes a line a command for GitHub, which ignores spaces before it: `::error::`, `##[error]`. */
const COMMAND = /(?<=^[ \t]*):(?=:)|#(?=#\[)/gm;

/**
 * A text that a terminal shows as it is, and a CI log does not obey: a file, a client or a server may have put anything into
 * it.
 */
export const visible = (text: string, isColoured = false): string =>
  text
    .replaceAll(HIDDEN, (found) => (isColoured && found.length > 3 ? found : '\ufffd'))
    .replaceAll(COMMAND, '\ufffd');

/** The same on one line. */
export const visibleLine = (text: string, isColoured = false): string =>
  visible(text.replaceAll('\n', '\ufffd'), isColoured);

const escaped = (text: string): string =>
  text.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** JSON in which nothing is lost, and nothing controls a terminal. */
export const jsonText = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent)
    .replaceAll(HIDDEN, escaped)
    .replaceAll(/#(?=#\[)/g, escaped);

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const STATE_COLOURS = { PENDING: 'yellow', SUCCESS: 'green', FAILED: 'red', REVERSED: 'red' } as const;

export const stateColour = (state: TransactionResponse['status']): Colour => STATE_COLOURS[state];

export interface Cell {
  readonly text: string;
  readonly colour?: Colour;
  /** Aligned right, as numbers are. */
  readonly isRight?: boolean;
}

/** A cell with text of a client: without control characters, which could also break its line. */
export const cellOf = (given: string | Cell): Cell => {
  const cell = typeof given === 'string' ? { text: given } : given;
  return { ...cell, text: visibleLine(cell.text) };
};

/** The last line of a list that goes on. */
export const olderLines = (next: number | null, limit: string): readonly string[] =>
  next === null ? [] : [`there are older ones: ${limit} shows more`];

export function alignedLines(rows: readonly (readonly (string | Cell)[])[], paint: Paint): readonly string[] {
  const cells = rows.map((row) => row.map(cellOf));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [column, { text }] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, text.length);
    }
  }
  return cells.map((row) =>
    row
      .map(({ text, colour, isRight }, column) => {
        const gap = ' '.repeat(widths[column]! - text.length);
        const shown = colour === undefined ? text : paint(text, colour);
        if (isRight) return gap + shown;
        return column === row.length - 1 ? shown : shown + gap;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** A table with a line of headings. @param none what is shown instead of a table without rows */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | Cell)[])[],
  paint: Paint,
  none?: string,
): readonly string[] {
  if (rows.length === 0 && none !== undefined) return [none];
  const isRight = (column: number): boolean =>
    rows.some((row) => typeof row[column] === 'object' && row[column].isRight);
  const titles = headings.map((text, column): Cell => ({ text, colour: 'dim', isRight: isRight(column) }));
  return alignedLines([titles, ...rows], paint);
}

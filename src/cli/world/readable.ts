import { styleText } from 'node:util';
import type { TransactionAnswer } from '../../contract/control-answers.ts';
import { IST_OFFSET_MS } from '../../payout/settlement.ts';
import { isColoured } from '../output.ts';

/** How answers of a sandbox are written for people: rupees, Indian time, aligned columns, colours. */

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colours a text, on a terminal. */
export type Paint = (text: string, colour: Colour) => string;

// without `false`, Node.js would check the terminal again, and find no colours where TERM is missing
const inColour: Paint = (text, colour) => styleText(colour, text, { validateStream: false });
const plain: Paint = (text) => text;

export const paintFor = (environment: NodeJS.ProcessEnv): Paint =>
  isColoured(environment) ? inColour : plain;

/** ₹10,00,000.00 */
export const rupees = (inr: number): string =>
  inr.toLocaleString('en-IN', { style: 'currency', currency: 'INR' });

/** With + for money that enters the wallet and − for money that leaves it. */
export const signedRupees = (inr: number): string => `${inr < 0 ? '−' : '+'}${rupees(Math.abs(inr))}`;

const inIst = (at: string): string => new Date(Date.parse(at) + IST_OFFSET_MS).toISOString();

/** 2026-11-20 22:36:05 */
export const istSecond = (at: string): string => inIst(at).slice(0, 19).replace('T', ' ');
/** 22:36:05.123 */
export const istTime = (at: string): string => inIst(at).slice(11, 23);

/** `1 payout`, `1,00,000 payouts` */
export const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en-IN')} ${what}${count === 1 ? '' : 's'}`;

/** A text of a client without control characters, which could move the cursor of a terminal. */
export const printable = (text: string): string => text.replaceAll(/\p{C}/gu, '\ufffd');

const STATE_COLOURS = { PENDING: 'yellow', SUCCESS: 'green', FAILED: 'red', REVERSED: 'red' } as const;

export const stateColour = (state: TransactionAnswer['status']): Colour => STATE_COLOURS[state];

/** One cell of a table: its text, and how it is shown. */
export interface Cell {
  readonly text: string;
  readonly colour?: Colour;
  /** Aligned right, as numbers are. */
  readonly isRight?: boolean;
}

/** Rows as lines with aligned columns. */
export function alignedLines(rows: readonly (readonly (string | Cell)[])[], paint: Paint): readonly string[] {
  const cells = rows.map((row) =>
    row.map((given): Cell => {
      const cell = typeof given === 'string' ? { text: given } : given;
      return { ...cell, text: printable(cell.text) };
    }),
  );
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

/** A table with a line of headings. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | Cell)[])[],
  paint: Paint,
): readonly string[] {
  const isRight = (column: number): boolean =>
    rows.some((row) => typeof row[column] === 'object' && row[column].isRight);
  const titles = headings.map((text, column): Cell => ({ text, colour: 'dim', isRight: isRight(column) }));
  return alignedLines([titles, ...rows], paint);
}

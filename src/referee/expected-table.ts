import { z } from 'zod';
import { ExpectedPayout } from '../contract/conduct.ts';

/** A table of expected payouts that cannot be used. */
export class ExpectedTableError extends Error {
  override readonly name = 'ExpectedTableError';
}

const COLUMNS: ReadonlySet<string> = new Set(['account', 'amount', 'times']);

/** The cells of one line of CSV, which may be quoted. */
function cellsOf(line: string): readonly string[] {
  const cells = line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g);
  const texts = [...cells].map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare!.trim());
  return line.endsWith(',') ? texts : texts.slice(0, -1); // the expression also matches the empty end
}

function fromCsv(text: string): readonly unknown[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const [header = '', ...rows] = lines;
  const columns = cellsOf(header.toLowerCase());
  const unknown = columns.filter((column) => !COLUMNS.has(column));
  if (unknown.length > 0 || !columns.includes('account') || !columns.includes('amount')) {
    throw new ExpectedTableError(
      `the first line must name the columns account, amount and (if you like) times, not ${header}`,
    );
  }
  return rows.map((row) => {
    const cells = cellsOf(row);
    const named = Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']));
    const { account, amount, times = '' } = named;
    return { account, amount: Number(amount), times: times === '' ? undefined : Number(times) };
  });
}

/** Reads a table of expected payouts: a JSON list, or CSV with the columns account, amount and times. @throws ExpectedTableError */
export function expectedTable(text: string): readonly ExpectedPayout[] {
  let rows: unknown;
  const isJson = /^\s*\[/.test(text);
  try {
    rows = isJson ? JSON.parse(text) : fromCsv(text.replace(/^\ufeff/, ''));
  } catch (error) {
    if (error instanceof ExpectedTableError) throw error;
    throw new ExpectedTableError('it is not JSON', { cause: error });
  }
  const table = z.array(ExpectedPayout).safeParse(rows);
  if (table.success) return table.data;
  const [{ path, message }] = table.error.issues as [z.core.$ZodIssue];
  const [row, field] = path as [number?, string?];
  throw new ExpectedTableError(
    `${row === undefined ? '' : `payout ${row + 1}: `}${field ?? 'it'}: ${message}`,
  );
}

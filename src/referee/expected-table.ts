import { ExpectedPayout } from '../contract/conduct.ts';
import { parseShape, pathText } from '../contract/shape-issues.ts';
import { UsageError } from '../contract/usage-error.ts';
import { writtenInr } from '../contract/words.ts';

const COLUMNS: ReadonlySet<string> = new Set(['account', 'amount', 'times']);

/** The cells of one line of CSV, which may be quoted. */
function cellsOf(line: string): readonly string[] {
  const cells = line.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g);
  const texts = [...cells].map(([, quoted, bare]) => quoted?.replaceAll('""', '"') ?? bare!.trim());
  return line.endsWith(',') ? texts : texts.slice(0, -1); // the expression also matches the empty end
}

/** A row of a table, and its place for messages. */
interface Row {
  readonly place: string;
  readonly value: unknown;
}

/** A number; any other text stays as it is, to be refused. */
const numberOf = (text: string): number | string => writtenInr(text) ?? text;

function fromCsv(text: string): readonly Row[] {
  const lines = text
    .split(/\r?\n/)
    .map((line, index) => ({ line, place: `line ${index + 1}` }))
    .filter(({ line }) => line.trim() !== '');
  const [{ line: header } = { line: '' }, ...rows] = lines;
  const columns = cellsOf(header.toLowerCase());
  const unknown = columns.filter((column) => !COLUMNS.has(column));
  if (unknown.length > 0 || !columns.includes('account') || !columns.includes('amount')) {
    throw new UsageError(
      `the first line must name the columns account, amount and (if you like) times, not ${JSON.stringify(header)}`,
    );
  }
  return rows.map(({ line, place }) => {
    const cells = cellsOf(line);
    if (cells.length !== columns.length) {
      throw new UsageError(
        `${place} must have ${columns.length} cells, as the first line has, not ${cells.length}: ${line}`,
      );
    }
    const {
      account,
      amount = '',
      times = '',
    }: Readonly<Record<string, string>> = Object.fromEntries(
      columns.map((column, index) => [column, cells[index]!]),
    );
    const value = { account, amount: numberOf(amount), times: times === '' ? undefined : numberOf(times) };
    return { place, value };
  });
}

function fromJson(text: string): readonly Row[] {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    throw new UsageError('it is not JSON', { cause: error });
  }
  if (!Array.isArray(rows)) {
    throw new UsageError('JSON must be a list, such as [{"account":"000123456789","amount":1500.5}]');
  }
  return rows.map((value: unknown, index) => ({ place: `payout ${index + 1}`, value }));
}

/** @throws UsageError with the place */
function payoutOf({ place, value }: Row): ExpectedPayout {
  const { value: payout, issues } = parseShape(ExpectedPayout, value);
  if (issues === undefined) return payout;
  const [{ path, message }] = issues as [(typeof issues)[number]];
  throw new UsageError(`${place}: ${pathText(path) || 'it'} ${message}`);
}

/** Reads a table of expected payouts: a JSON list, or CSV with the columns account, amount and times. @throws UsageError */
export function expectedTable(text: string): readonly ExpectedPayout[] {
  if (/[\0\ufffd]/.test(text)) throw new UsageError('it is not a text file in UTF-8');
  const table = text.replace(/^\ufeff/, '');
  if (table.trim() === '') throw new UsageError('it is empty');
  return (/^\s*[[{]/.test(table) ? fromJson(table) : fromCsv(table)).map(payoutOf);
}

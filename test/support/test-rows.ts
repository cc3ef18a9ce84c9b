import { inspect } from 'node:util';
import { onTestFinished, test } from 'vitest';

/** A row is the arguments of the test, or its only argument. */
type Arguments<Row> = Row extends readonly unknown[] ? { -readonly [Nth in keyof Row]: Row[Nth] } : [Row];
type TestOfRows<Row> = (title: string, work: (...row: Arguments<Row>) => unknown) => void;

/** What cleans up after the row that runs; null outside of a table. */
let afterRow: (() => Promise<void>)[] | null = null;

/** `onTestFinished`, and the same for each row of a table: what one row has used, the next can use again. */
export function onRowFinished(cleanUp: () => Promise<void>): void {
  if (afterRow === null) onTestFinished(cleanUp);
  else afterRow.push(cleanUp);
}

/** One test for a table of cases of the same rule. It tries every row, and names those that fail. */
export function testRows<Row extends readonly [unknown, ...unknown[]]>(rows: readonly Row[]): TestOfRows<Row>;
export function testRows<Row>(rows: readonly Row[]): TestOfRows<Row>;
export function testRows(rows: readonly unknown[]): TestOfRows<unknown[]> {
  return (title, work) =>
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- those of the caller
    test(title, async () => {
      const failed: Error[] = [];
      for (const row of rows) {
        const used: (() => Promise<void>)[] = [];
        afterRow = used;
        try {
          await work(...(Array.isArray(row) ? (row as unknown[]) : [row]));
        } catch (error) {
          const name = inspect(row, { breakLength: Infinity }).slice(0, 300);
          failed.push(new Error(`${name}: ${String(error)}`, { cause: error }));
        } finally {
          afterRow = null;
          for (const cleanUp of used) await cleanUp();
        }
      }
      const [first, ...others] = failed;
      if (others.length > 0)
        throw new AggregateError(failed, failed.map(({ message }) => message).join('\n'));
      if (first !== undefined) throw first;
      if (rows.length === 0) throw new Error('the table is empty');
    });
}

import { inspect } from 'node:util';
import { test } from 'vitest';

/** A row is the arguments of the test, or its only argument. */
type Arguments<Row> = Row extends readonly unknown[] ? { -readonly [Nth in keyof Row]: Row[Nth] } : [Row];
type TestOfRows<Row> = (title: string, work: (...row: Arguments<Row>) => unknown) => void;

/** One test for a table of cases of the same rule. It tries every row, and names those that fail. */
export function testRows<Row extends readonly [unknown, ...unknown[]]>(rows: readonly Row[]): TestOfRows<Row>;
export function testRows<Row>(rows: readonly Row[]): TestOfRows<Row>;
export function testRows(rows: readonly unknown[]): TestOfRows<unknown[]> {
  return (title, work) =>
    // oxlint-disable-next-line vitest/valid-title, vitest/expect-expect -- those of the caller
    test(title, async () => {
      const failed: Error[] = [];
      for (const row of rows) {
        try {
          await work(...(Array.isArray(row) ? (row as unknown[]) : [row]));
        } catch (error) {
          const name = inspect(row, { breakLength: Infinity }).slice(0, 300);
          failed.push(new Error(`${name}: ${String(error)}`, { cause: error }));
        }
      }
      const [first, ...others] = failed;
      if (others.length > 0)
        throw new AggregateError(failed, failed.map(({ message }) => message).join('\n'));
      if (first !== undefined) throw first;
      if (rows.length === 0) throw new Error('the table is empty');
    });
}

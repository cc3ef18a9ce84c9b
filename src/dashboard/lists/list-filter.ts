/** What every list can be searched and sorted by. */
export interface ListFilter {
  readonly text: string;
  /** The key of a column, after `-` for descending; empty for newest first. */
  readonly sort: string;
}

export const NO_LIST_FILTER: ListFilter = { text: '', sort: '' };

/** Whether a row contains a text. */
export function matcher<T>(text: string, texts: (row: T) => readonly (string | null)[]): (row: T) => boolean {
  const wanted = text.trim().toLowerCase();
  return (row) => wanted === '' || texts(row).some((value) => value?.toLowerCase().includes(wanted));
}

/** What rows can be sorted by. */
export interface Sortable<T> {
  readonly key: string;
  readonly name: string;
  readonly value: (row: T) => string | number;
}

/** Puts `order-9` before `order-10`. Computed once for a row, since thousands of rows are compared often. */
const sortKey = (value: string | number): string | number =>
  typeof value === 'number' ? value : value.replaceAll(/\d+/g, (digits) => digits.padStart(16, '0'));

/** Sorted rows, given the newest first. Descending is ascending from the end, so that equal times are sorted, too. */
export function sorted<T>(rows: readonly T[], columns: readonly Sortable<T>[], sort: string): readonly T[] {
  const column = columns.find(({ key }) => key === sort.replace(/^-/, ''));
  if (column === undefined) return rows;
  const ascending = rows
    .map((row) => ({ row, key: sortKey(column.value(row)) }))
    .toReversed()
    .toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1))
    .map(({ row }) => row);
  return sort.startsWith('-') ? ascending.toReversed() : ascending;
}

/** What a click on a column leads to: ascending, descending, newest first. */
export const nextSort = (sort: string, key: string): string =>
  sort === key ? `-${key}` : sort === `-${key}` ? '' : key;

import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/contract/usage-error.ts';
import { DEFAULT_DIALECT, type Dialect } from '../../../src/contract/dialect.ts';
import { dialectRows } from '../../../src/trials/matrix/dialect-rows.ts';
import { shippedDialects } from '../../../src/scenario/scenario-file.ts';
import { sized } from '../../support/size.ts';

const SOURCE = { base: DEFAULT_DIALECT, presets: shippedDialects(), seed: '1' };
const rowsOf = (names: string[], change: Partial<typeof SOURCE> = {}) =>
  dialectRows(names, { ...SOURCE, ...change });

/** The choices of a dialect: `status.unknown=400`, one for each switch. */
const choicesIn = (dialect: Dialect): string[] =>
  Object.entries(dialect).flatMap(([part, rows]) =>
    Object.entries(rows).map(([row, value]) => `${part}.${row}=${value}`),
  );
const pairsIn = (choices: readonly string[]): string[] =>
  choices.flatMap((one, index) => choices.slice(0, index).map((other) => `${other} ${one}`));

test('one-row changes one choice of the default dialect in each of 30 rows', () => {
  const rows = rowsOf(['one-row']);
  const usual = choicesIn(DEFAULT_DIALECT);
  const changes = rows.map(({ dialect }) => choicesIn(dialect).filter((choice) => !usual.includes(choice)));
  expect(changes).toEqual(rows.map(({ name }) => [name]));
  expect(new Set(rows.map(({ name }) => name)).size).toBe(30);
});

test('one-row varies the dialect of the settings: it omits the choices of that dialect, and includes the default ones', () => {
  const base = rowsOf(['status.unknown=400'])[0]!.dialect;
  const rows = rowsOf(['one-row'], { base });
  expect(rows).toHaveLength(30);
  expect(rows.map(({ name }) => name)).toContain('status.unknown=404');
  expect(rows.find(({ name }) => name === 'errors.body=empty')!.dialect.status.unknown).toBe(400);
});

test('presets are the dialects that come with the sandbox', () => {
  expect(rowsOf(['presets']).map(({ name }) => name)).toEqual(['default', 'lenient', 'strict', 'terse']);
});

describe.each(['1', '2', '3'].slice(0, sized(1, 3)))('pairwise with seed %s', (seed) => {
  const rows = rowsOf(['pairwise'], { seed });

  test('has every pair of choices in at most 32 rows', () => {
    const all = choicesIn(DEFAULT_DIALECT).concat(rowsOf(['one-row']).map(({ name }) => name));
    const isOneSwitch = (pair: string): boolean => new Set(pair.match(/[\w.]+(?==)/g)).size === 1;
    const sorted = (pairs: string[]) => new Set(pairs.map((pair) => pair.split(' ').toSorted().join(' ')));
    const wanted = sorted(pairsIn(all).filter((pair) => !isOneSwitch(pair)));
    expect(sorted(rows.flatMap(({ dialect }) => pairsIn(choicesIn(dialect))))).toEqual(wanted);
    expect(rows.length).toBeLessThanOrEqual(32);
  });

  test('gives the same rows every time, and each row can be named by its choices', () => {
    expect(rowsOf(['pairwise'], { seed })).toEqual(rows);
    expect(rowsOf(rows.map(({ choices }) => choices)).map(({ dialect }) => dialect)).toEqual(
      rows.map(({ dialect }) => dialect),
    );
  });
});

test('names of all kinds can be combined, and a row that is named twice is run once', () => {
  expect(
    rowsOf(['strict', 'presets', 'errors.body=empty+status.unknown=400']).map(({ name }) => name),
  ).toEqual(['strict', 'default', 'lenient', 'terse', 'errors.body=empty+status.unknown=400']);
});

test.each([
  ['stict', 'there is no stict (did you mean strict?)'],
  ['status.unknwon=400', 'there is no switch status.unknwon (did you mean status.unknown?)'],
  ['status.unknown', 'status.unknown must be one of 404, 400'],
  ['status.unknown=418', 'status.unknown must be one of 404, 400'],
  ['', '--dialects is empty, or has an empty name between two commas'],
])('%j is refused with the valid names', (name, message) => {
  expect(() => rowsOf([name])).toThrow(UsageError);
  expect(() => rowsOf([name])).toThrow(message);
});

import { expect, test } from 'vitest';
import { isTooCrowded } from '../../../src/http/limits/crowding.ts';

/** A list of so many members, as far as its commas tell. */
const list = (members: number): string => `[${','.repeat(members - 1)}]`;

/** Lists in lists, each with the next as its only member. */
const nested = (depth: number, [open, close] = '[]'): string => open!.repeat(depth) + close!.repeat(depth);

/** So many characters of one text, which is a single value, and is looked through quickly. */
const text = (characters: number): string => `"${'\\\\'.repeat(characters / 2 - 1)}"`;

test('a text may hold 100 000 values, and one more for every ten of its characters', () => {
  const characters = 112_000;
  expect(isTooCrowded(list(111_200).padEnd(characters))).toBe(false);
  expect(isTooCrowded(list(111_201).padEnd(characters))).toBe(true);
});

test.each(['[]', '{}'])('it may hold 100 000 %s, and one more for every 64 of its characters', (kind) => {
  const characters = 64 * 3240;
  expect(isTooCrowded(nested(103_240, kind).padEnd(characters))).toBe(false);
  expect(isTooCrowded(nested(103_241, kind).padEnd(characters))).toBe(true);
});

/** More than a text of so few characters may hold. */
const COMMAS = ','.repeat(120_000);

test.each([
  ['commas', COMMAS],
  ['brackets', '[{]}'.repeat(30_000)],
  ['quotes, written with a backslash', '\\",'.repeat(120_000)],
  ['a backslash at its end', `${COMMAS}\\\\`],
])('what stands in a text counts for nothing: %s', (_what, inside) => {
  expect(isTooCrowded(`["${inside}"]`)).toBe(false);
});

test.each(['', 'a', 'ab', '\\"', '\\\\', '\\\\\\"', '\\n'])(
  'what comes after the text "%s" counts',
  (inside) => {
    expect(isTooCrowded(`["${inside}",[${COMMAS}]]`)).toBe(true);
  },
);

/** So many members are open at its end, three of them beside lists and objects that were closed before. */
const open = (members: number): string => `[[0,0],{"a":0},[${','.repeat(members - 4)}]]`;

test('a text of up to 64 Ki characters is never too crowded', () => {
  expect(isTooCrowded(open(11).padEnd(65_536), 10)).toBe(false);
  expect(isTooCrowded(open(11).padEnd(65_537), 10)).toBe(true);
});

test('so many members may be open at once, and no more: what was closed is not', () => {
  expect(isTooCrowded(open(10).padEnd(70_000), 10)).toBe(false);
  expect(isTooCrowded(open(11).padEnd(70_000), 10)).toBe(true);
  expect(isTooCrowded(`${open(10)}${open(10)}`.padEnd(70_000), 10)).toBe(false);
});

test('what is closed and was never opened takes nothing away', () => {
  expect(isTooCrowded(`]}${open(10)}`.padEnd(70_000), 10)).toBe(false);
  expect(isTooCrowded(`]}${open(11)}`.padEnd(70_000), 10)).toBe(true);
});

/** A text that is so long may hold more values than may be open at once. */
const LONG = text(17_001_000);

test('two million members may be open at once', () => {
  expect(isTooCrowded(open(2_000_000) + LONG)).toBe(false);
});

test('one more than two million may not', () => {
  expect(isTooCrowded(open(2_000_001) + LONG)).toBe(true);
});

import { expect, test } from 'vitest';
import { isTooCrowded } from '../src/domain/crowding.ts';

/** A list of so many numbers, of one digit each. */
const numbers = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;

/** Lists in lists, each with the next as its only member. */
const nested = (depth: number, [open, close] = '[]'): string => open!.repeat(depth) + close!.repeat(depth);

/** So many characters of one text, which is a single value, and is looked through quickly. */
const text = (characters: number): string => `"${'\\\\'.repeat(characters / 2 - 1)}"`;

test('a text may hold 100 000 values, and one more for every ten of its characters', () => {
  const characters = 250_010;
  expect(isTooCrowded(numbers(125_001).padEnd(characters))).toBe(false);
  expect(isTooCrowded(numbers(125_002).padEnd(characters))).toBe(true);
});

test.each(['[]', '{}'])('it may hold 100 000 %s, and one more for every 64 of its characters', (kind) => {
  const characters = 640_000;
  expect(isTooCrowded(nested(110_000, kind).padEnd(characters))).toBe(false);
  expect(isTooCrowded(nested(110_001, kind).padEnd(characters))).toBe(true);
});

test('a short text is never too crowded, though there is nothing else in it', () => {
  expect(isTooCrowded('['.repeat(64 * 1024))).toBe(false);
});

test.each([
  ['commas', ','.repeat(200_000)],
  ['brackets', '[{]}'.repeat(50_000)],
  ['quotes, written with a backslash', '\\",'.repeat(200_000)],
  ['a backslash at its end', `${','.repeat(200_000)}\\\\`],
])('what stands in a text counts for nothing: %s', (_what, inside) => {
  expect(isTooCrowded(`["${inside}"]`)).toBe(false);
});

test.each(['', 'a', 'ab', '\\"', '\\\\', '\\\\\\"', '\\n'])(
  'what comes after the text "%s" counts',
  (inside) => {
    expect(isTooCrowded(`["${inside}",${numbers(200_000)}]`)).toBe(true);
  },
);

/** A text that is so long may hold more values than may be open at once. */
const LONG = text(17_200_000);
/** So many members are open at its end, two of them beside lists that were closed before. */
const open = (members: number): string => `[[0,0],{"a":0},[${','.repeat(members - 4)}]]`;

test('two million members may be open at once', () => {
  expect(isTooCrowded(open(2_000_000) + LONG)).toBe(false);
});

test('no more than two million members may be open at once, whatever was closed that was never opened', () => {
  expect(isTooCrowded(`]${open(2_000_001)}${LONG}`)).toBe(true);
});

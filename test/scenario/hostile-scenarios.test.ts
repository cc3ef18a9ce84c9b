import { expect, test } from 'vitest';
import { validate } from '../../src/cli/scenario-files.ts';
import { fileWith } from '../support/temporary-folder.ts';
import { validated } from './validated.ts';

const listOf = <T>(count: number, item: (nth: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, nth) => item(nth));

const unknownKeys = (count: number): string => listOf(count, (nth) => `key${nth}: 1\n`).join('');
test('a file with many errors reports the first fifty, and how many more there are', () => {
  const lines = validated(unknownKeys(63));
  expect(lines).toHaveLength(51);
  expect(lines.slice(48)).toEqual([
    expect.stringMatching(/^49:1 key48 is not known here/),
    expect.stringMatching(/^50:1 key49 is not known here/),
    'and 13 more',
  ]);
  expect(validated(unknownKeys(50))).toHaveLength(50);
});

const closed = (depth: number): string => `description: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;

test('a file may be nested 100 levels deep', () => {
  expect(validated(closed(99))).toEqual(['1:14 description must be a string']);
});

test.each<[string, (depth: number) => string]>([
  ['lists in brackets', closed],
  ['brackets that nothing closes', (depth) => `description: ${'['.repeat(depth)}\n`],
  ['lists with dashes', (depth) => `description:\n  ${'- '.repeat(depth)}1\n`],
  ['keys that are lists', (depth) => `${'? ['.repeat(depth)}\n`],
  ['JSON', (depth) => `{"description": ${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`],
])('a file that is nested deeper than 100 levels is refused: %s', (_what, nested) => {
  for (const depth of [101, 5000]) {
    expect(validated(nested(depth))).toEqual([
      expect.stringMatching(/^\d:\d+ must not be nested deeper than 100 levels$/),
    ]);
  }
});

test('a very long key is shortened in the message', () => {
  const [line] = validated(`{"${'k'.repeat(60_000)}":1}`);
  expect(line!.length).toBeLessThan(400);
  expect(line).toContain(`${'k'.repeat(100)}… is not known here`);
});

test.each(['rules', 'outcomes'])('a scenario has at most 200 %s', (list) => {
  const item = list === 'rules' ? '{effect: {stale: 1s}}' : '{timeline: []}';
  const text = (count: number) => `${list}: [${`${item}, `.repeat(count)}]`;
  expect(validated(text(200)).at(-1)).toMatch(/^ok, /);
  expect(validated(text(201))).toEqual([`1:${list.length + 3} ${list} must be at most 200 ${list}`]);
});

test('a scenario has at most 65,536 characters, as the text of a file and as JSON', () => {
  const ofFile = (length: number) => {
    const lines: string[] = [];
    validate([fileWith('my.yaml', '#'.repeat(length))], (line) => lines.push(line));
    return lines;
  };
  expect(ofFile(65_536)).toEqual([expect.stringMatching(/my\.yaml: ok, 0 rules$/)]);
  expect(ofFile(65_537)).toEqual([expect.stringMatching(/my\.yaml must be at most 65536 characters long$/)]);
  const aliases = `rules: [{ effect: { respond: { status: 500, body: [&a ${'x'.repeat(1000)}${', *a'.repeat(70)}] } } }]`;
  expect(validated(aliases)).toEqual(['must be at most 65536 characters as JSON']);
});

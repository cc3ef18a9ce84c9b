import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { validate } from '../../src/cli/scenario-files/validate.ts';
import { ask } from '../support/control.ts';
import { growth, LINEAR } from '../support/growth.ts';
import { sandboxFor } from '../support/sandbox.ts';
import { isLong } from '../support/size.ts';

/** The lines that `validate` prints for a text. */
function linesOf(text: string): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'scenarios-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'my.yaml');
  writeFileSync(file, text);
  const lines: string[] = [];
  validate([file], (line) => lines.push(line.replace(folder, '')));
  return lines;
}

const listOf = <T>(count: number, item: (nth: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, nth) => item(nth));

const badPatterns = (count: number): string =>
  `rules:\n${listOf(count, (nth) => `  - { name: r${nth}, match: { remarks: { matches: "(" } }, effect: { fault: hang } }\n`).join('')}`;
const badSteps = (count: number): string =>
  `rules:\n${listOf(count, (nth) => `  - { name: r${nth}, effect: { timeline: [{ to: GONE, after: 1s }] } }\n`).join('')}`;
const unknownKeys = (count: number): string => listOf(count, (nth) => `key${nth}: 1\n`).join('');
const repeatedKeys = (count: number): string => `${unknownKeys(count)}key0: 1\n`;

test.each([
  ['bad patterns', badPatterns, 25],
  ['bad steps', badSteps, 50],
  ['unknown keys', unknownKeys, 500],
  ['different keys with one repeated', repeatedKeys, 500],
])('sixteen times as many %s take about sixteen times as long to report', async (_what, textOf, count) => {
  expect(await growth(count, (size) => linesOf(textOf(size)))).toBeLessThan(LINEAR);
});

test('a file with many errors reports the first fifty, and how many more there are', () => {
  const lines = linesOf(unknownKeys(63));
  expect(lines).toHaveLength(51);
  expect(lines.slice(48)).toEqual([
    expect.stringMatching(/^\/my\.yaml:49:1 key48 is not known here/),
    expect.stringMatching(/^\/my\.yaml:50:1 key49 is not known here/),
    '/my.yaml: and 13 more',
  ]);
  expect(linesOf(unknownKeys(50))).toHaveLength(50);
  expect(linesOf(unknownKeys(5000)).at(-1)).toBe('/my.yaml: and 4950 more');
});

test('a request with many errors reports the first fifty, and how many more there are', async () => {
  const { client } = await sandboxFor();
  const world = client();
  const many = Object.fromEntries(listOf(63, (nth) => [`key${nth}`, 1]));
  for (const [method, path, body] of [
    ['PUT', '/scenario', many],
    ['POST', '/rules', { effect: { fault: 'hang' }, ...many }],
    ['POST', '/wallet/credit', { amount: 1, ...many }],
  ] as const) {
    const answer = await ask(world, method, path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/key49 is not known here[^;]*; and 13 more$/);
    expect(answer.body.errors).toHaveLength(50);
  }
});

const closed = (depth: number): string => `description: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;

test('a file may be nested 100 levels deep', () => {
  expect(linesOf(closed(99))).toEqual(['/my.yaml:1:14 description must be a string']);
});

test.each<[string, (depth: number) => string]>([
  ['lists in brackets', closed],
  ['brackets that nothing closes', (depth) => `description: ${'['.repeat(depth)}\n`],
  ['lists with dashes', (depth) => `description:\n  ${'- '.repeat(depth)}1\n`],
  ['keys that are lists', (depth) => `${'? ['.repeat(depth)}\n`],
  ['JSON', (depth) => `{"description": ${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}`],
])('a file that is nested deeper than 100 levels is refused: %s', (_what, nested) => {
  for (const depth of [101, 5000]) {
    expect(linesOf(nested(depth))).toEqual([
      expect.stringMatching(/^\/my\.yaml:\d:\d+ must not be nested deeper than 100 levels$/),
    ]);
  }
});

test('a very long key is shortened in the message', () => {
  const [line] = linesOf(`{"${'k'.repeat(60_000)}":1}`);
  expect(line!.length).toBeLessThan(400);
  expect(line).toContain(`${'k'.repeat(100)}… is not known here`);
});

test('a scenario has at most 5,000 rules', () => {
  const rules = (count: number) =>
    `rules: [${listOf(count, (nth) => `{name: r${nth}, match: {client_ref_id: r${nth}}, effect: {stale: 1s}}`).join(', ')}]`;
  if (isLong) expect(linesOf(rules(5000))).toEqual(['/my.yaml: ok, 5,000 rules']); // its warnings take seconds
  const short = `rules: [${'{effect: {stale: 1s}}, '.repeat(5001)}]`;
  expect(linesOf(short)).toEqual(['/my.yaml:1:8 rules must be at most 5000 rules']);
});

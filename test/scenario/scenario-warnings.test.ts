import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { validate } from '../../src/cli/scenario-files.ts';
import { SHIPPED } from '../../src/scenario/scenario-file.ts';
import { testRows } from '../support/test-rows.ts';
import { validated } from './validated.ts';

/** The warnings of `validate`, without the name of the file. A scenario with a warning is valid. */
function warningsOf(text: string): string[] {
  const lines = [...validated(text)];
  expect(lines.pop()).toMatch(/^ok/);
  return lines;
}

const rule = (name: string, match: string, more = ''): string =>
  `  - { name: ${name}, match: { ${match} }, effect: { fault: hang }${more} }\n`;
const rules = (...lines: readonly string[]): string => `rules:\n${lines.join('')}`;

testRows([
  ['', 'route: status'],
  ['route: initiate', 'route: initiate'],
  ['remarks: { matches: "^a" }', 'remarks: { matches: "^a" }'],
])('a rule is never reached behind one with the same match, or with none', (earlier, later) => {
  expect(warningsOf(rules(rule('first', earlier), rule('second', later)))).toEqual([
    '3: warning: rules[1] never applies: first comes first and takes all of its requests',
  ]);
});

testRows(['skip: 1', 'times: 3', 'probability: 0.5', 'during: { from: 10m }'])(
  'a rule can be reached behind one that takes only a part',
  (part) => {
    const text = rules(rule('first', 'route: initiate', `, ${part}`), rule('second', 'route: initiate'));
    expect(warningsOf(text)).toEqual([]);
  },
);

test('a limit lets requests pass to the rules below it', () => {
  const limit = '  - { name: limit, match: { route: initiate }, effect: { limit: { max: 3, per: 10s } } }\n';
  expect(warningsOf(rules(limit, rule('other', 'route: initiate')))).toEqual([]);
});

testRows([
  [
    'beneficiary_ifsc: HDFC*',
    'beneficiary_ifsc matches a * itself, as all other characters: write { prefix: HDFC }',
  ],
  ['remarks: [rent, "*-a"]', 'remarks matches a * itself, as all other characters: write { suffix: -a }'],
])('a text with a star is a text, not a pattern', (match, warning) => {
  expect(warningsOf(rules(rule('first', match)))).toEqual([`2: warning: rules[0].match.${warning}`]);
  expect(warningsOf(`outcomes: [{ match: { ${match} }, timeline: [] }]`)).toEqual([
    expect.stringContaining(warning),
  ]);
});

testRows([
  ['settlement: [{ to: SUCCESS, after: 1s }, { utr: now, after: 2s }]', 'settlement[1].utr'],
  [
    'outcomes: [{ timeline: [{ utr: now, after: 1s }, { utr: now, after: 2s }] }]',
    'outcomes[0].timeline[1].utr',
  ],
])('a UTR that is set twice does nothing the second time', (text, path) => {
  expect(warningsOf(text)).toEqual([
    expect.stringContaining(`${path} does nothing: an earlier step has set the UTR`),
  ]);
});

test('an outcome is never reached behind one with the same match', () => {
  const outcome = '  - { match: { transfer_mode: RTGS }, timeline: [] }\n';
  expect(warningsOf(`outcomes:\n${outcome}${outcome}`)).toEqual([
    '3: warning: outcomes[1] never applies: outcome-1 comes first and takes all of its payouts',
  ]);
});

test('no shipped scenario has a warning', () => {
  const folder = join(SHIPPED, 'scenarios');
  const files = [...readdirSync(folder).map((name) => join(folder, name)), join(SHIPPED, 'magic.yaml')];
  const lines: string[] = [];
  validate(files, (line) => lines.push(line));
  expect(lines.filter((line) => !/: ok, /.test(line))).toEqual([]);
});

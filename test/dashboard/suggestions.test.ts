import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { completionAt, type Schema } from '../../src/dashboard/scenario/suggestions.ts';
import { testRows } from '../support/test-rows.ts';

const SCHEMA = JSON.parse(
  readFileSync(new URL('../../fixtures/scenario.schema.json', import.meta.url), 'utf8'),
) as Schema;

/** What can be written where the text has a `|`. */
const offered = (marked: string): readonly string[] =>
  completionAt(marked.replace('|', ''), marked.indexOf('|'), SCHEMA)?.options.map(({ label }) => label) ?? [];

testRows([
  ['the top of a scenario', 'ru|', ['rules']],
  ['a rule', 'rules:\n  - ef|', ['effect']],
  ['a list that is not indented', 'rules:\n- name: a\n  ef|', ['effect']],
  ['a match in braces', 'rules:\n  - match: { transfer|', ['transfer_mode']],
  ['a match after another condition', 'rules:\n  - match: { route: status, cl|', ['client_ref_id']],
  ['a rule after a comment and an empty line', '# a: {\n\nrules: # [\n  - na|', ['name']],
  ['the top of a scenario after a quoted text', "description: 'it: [is'\nse|", ['seed', 'settlement']],
  ['the steps of a mode', 'settlement:\n  IMPS: [{ to: SUCCESS, af|', ['after']],
  ['the top of a scenario after closed braces', 'wallet: { opening_balance: 5 }\nout|', ['outcomes']],
  ['braces over two lines', 'rules:\n  - match: { route: status,\n      txn|', ['txn_id']],
])('offers the keys of each place', (_where, text, keys) => {
  expect(offered(text)).toEqual(keys);
});

testRows([
  ['a route', 'rules:\n  - match: { route: in|', ['initiate']],
  ['one of several routes', 'rules:\n  - match: { route: [status, in|', ['initiate']],
  ['a state', 'outcomes:\n  - timeline:\n      - to: F|', ['FAILED']],
  ['a fault', 'rules:\n  - effect: { fault: connection|', ['connection-reset']],
  ['true or false', 'rules:\n  - effect:\n      commit: t|', ['true']],
])('offers the values of each key', (_what, text, values) => {
  expect(offered(text)).toEqual(values);
});

test('offers no key that is already there, and none in a value', () => {
  expect(offered('rules:\n  - name: a\n    |')).not.toContain('name');
  expect(offered('rules:\n  - name: a\n    |')).toContain('effect');
  expect(offered('rules:\n  - match: { route: status, | }')).not.toContain('route');
  expect(offered('seed: s|')).toEqual([]);
  expect(offered('nothing:\n  here: a|')).toEqual([]);
});

test('an option says what its field means, and replaces the word at the cursor', () => {
  const text = 'desc';
  expect(completionAt(text, text.length, SCHEMA)).toEqual({
    from: 0,
    options: [
      { label: 'description', apply: 'description: ', detail: 'What a client can expect in this scenario' },
    ],
  });
});

import { expect, test } from 'vitest';
import type { Match } from '../../src/contract/match.ts';
import { reportIn } from '../../src/scenario/planned-timeline.ts';
import { conditionsOf } from '../../src/scenario/rule-compiler.ts';
import type { RequestFacts } from '../../src/scenario/rule.ts';
import { compileScenario } from '../../src/scenario/scenario.ts';
import { SETTINGS } from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

const FACTS: RequestFacts = {
  route: 'initiate',
  fields: {},
  headers: {},
  attempt: 1,
  payout: 0,
  nowMs: 0,
  ageMs: 0,
};

/** Whether a match holds, and the paths of its problems. */
function compileAndMatch(match: Match) {
  const places: string[] = [];
  const report = (path: readonly PropertyKey[]) => void places.push(path.join('.'));
  const conditions = conditionsOf(match, (pattern) => new RegExp(pattern), reportIn(report, 'match'));
  return { holds: conditions.every(({ holds }) => holds(FACTS)), places };
}

test('hours that begin and end at the same time are refused, and never match', () => {
  expect(compileAndMatch({ hours: { from: 600, to: 600 } })).toEqual({
    holds: false,
    places: ['match.hours'],
  });
});

test('a match that no route can satisfy is reported at its first such field only', () => {
  expect(
    compileAndMatch({ route: 'balance', client_ref_id: 'a', txn_id: 'b', attempt: { gt: 1, lt: 1 } }),
  ).toEqual({
    holds: false,
    places: ['match.client_ref_id'],
  });
});

test('a rule of a scenario whose text was not kept is listed without its text', () => {
  const options = {
    name: 'test',
    source: null,
    settings: SETTINGS,
    last: () => ({ outcomes: [], rules: [] }),
    dialects: () => new Map(),
  };
  const document = { rules: [{ name: 'r', effect: {} }] };
  const issues: unknown[] = [];
  const compiled = compileScenario(document, options, (...issue) => issues.push(issue));
  expect(issues).toEqual([]);
  expect(compiled.rules).toMatchObject([{ id: 'test/r', document: undefined }]);
});

testRows([
  'client_ref_id',
  'beneficiary_name',
  'beneficiary_account',
  'beneficiary_ifsc',
  'remarks',
  'transfer_mode',
])('a match on a field compares that field', (field) => {
  const match = { [field]: 'NEFT' } as Match;
  const fields = (value: string) => ({ ...FACTS, fields: { [field]: value } });
  const conditions = conditionsOf(
    match,
    (pattern) => new RegExp(pattern),
    () => undefined,
  );
  expect(conditions.every(({ holds }) => holds(fields('NEFT')))).toBe(true);
  expect(conditions.every(({ holds }) => holds(fields('IMPS')))).toBe(false);
});

test.each(['constructor', '__proto__'])(
  'a rule on a header called %s matches no request without it',
  (name) => {
    const header = Object.fromEntries([[name, { prefix: 'a' }]]);
    expect(compileAndMatch({ header })).toEqual({ holds: false, places: [] });
  },
);

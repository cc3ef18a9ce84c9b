import { expect, test } from 'vitest';
import { linearPattern } from '../../src/scenario/pattern.ts';
import { ask, refusal } from '../support/control.ts';
import { clientFor, type Client } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

const TOO_LONG = 'must be a regular expression of at most 200 characters';
const TOO_OFTEN = 'must not repeat anything more than 30 times';
const GROUP = 'must not repeat a group a number of times, as (ab){2} does: write it out, as in (ab)(ab)';
const RANGE = 'must not combine (?i) with a range of characters beyond ASCII';

testRows([
  ['a'.repeat(201), TOO_LONG],
  ['a{31}', TOO_OFTEN],
  ['a{2,31}', TOO_OFTEN],
  ['a{31,}', TOO_OFTEN],
  ['a{2}'.repeat(6), 'must not have more than 5 counted repetitions such as {3}'],
  ['(ab){2}', GROUP],
  ['(a{2}b){2,}', GROUP],
  ['(?i)[B-\u{1F600}]', RANGE],
  ['(?si:[é-ü])', RANGE],
  ['(?i)[\\x{80}-\\x{10fffe}]', RANGE],
])('a regular expression that could hold up others is refused', (pattern, error) => {
  expect(linearPattern(pattern)).toEqual({ error });
});

testRows([
  'a'.repeat(200),
  '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  'a{0,30}',
  '(ab)+',
  '\\){3}',
  '\\x{0080}',
  '(?i)order-[a-z]',
  '(?i)é-\\d',
  '[B-\u{1F600}]',
  '(?P<id>[é-ü])',
])('a regular expression within the bounds is allowed', (pattern) => {
  expect(linearPattern(pattern)).not.toHaveProperty('error');
});

const ruleWith = (matches: string, name = 'r') => ({
  name,
  match: { remarks: { matches } },
  effect: { respond: { status: 418 } },
});

const worldOf = async (): Promise<Client> => clientFor({ magic: 'off' });

test.each([
  ['PUT', '/scenario', { rules: [ruleWith('a{31}')] }],
  ['POST', '/rules', ruleWith('a{31}')],
  ['POST', '/requests/verify', { match: ruleWith('a{31}').match }],
])('%s %s refuses a regular expression beyond the bounds', async (method, path, body) => {
  const { status, body: answer } = await ask(await worldOf(), method, path, body);
  expect([status, answer.errors.length]).toEqual([400, 1]);
  expect(answer.message).toContain(TOO_OFTEN);
});

const TOO_MANY =
  'brings the regular expressions to 21, at most 20 are allowed together: use prefix, suffix or a list instead';
const many = <T>(count: number, item: (nth: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, nth) => item(nth));

test('a scenario has at most 20 regular expressions', async () => {
  const world = await worldOf();
  const scenario = (count: number) => ({
    outcomes: [{ match: { remarks: { matches: '^a' } }, utr: 'none' }],
    rules: many(count - 1, (nth) => ruleWith(`^${nth}`, `r${nth}`)),
  });
  expect((await ask(world, 'PUT', '/scenario', scenario(20))).status).toBe(200);
  expect(await ask(world, 'PUT', '/scenario', scenario(21))).toMatchObject(
    refusal(400, 'INVALID_REQUEST', `body ${TOO_MANY}`, ['body']),
  );
});

test('a scenario with too many regular expressions has its other errors reported too', async () => {
  const rules = many(22, (nth) => ({ ...ruleWith('('), name: `r${nth}`, times: nth === 7 ? 0 : 1 }));
  const { body } = await ask(await worldOf(), 'PUT', '/scenario', { rules });
  expect(body.errors).toEqual([
    { field: 'rules[7].times', message: expect.any(String) },
    { field: 'body', message: `body ${TOO_MANY}` },
  ]);
});

test('all overrides of a world have at most 20 regular expressions together', async () => {
  const world = await worldOf();
  const headers = (count: number) =>
    Object.fromEntries(many(count, (nth) => [`x-${nth}`, { matches: `${nth}` }]));
  const rule = (count: number, name: string) => ({
    ...ruleWith('a', name),
    match: { header: headers(count) },
  });
  const refused = refusal(400, 'INVALID_REQUEST', `match ${TOO_MANY}`, ['match']);
  expect(await ask(world, 'POST', '/rules', rule(21, 'a'))).toMatchObject(refused);
  for (const name of ['a', 'b']) await world.world.rule(rule(10, name));
  await world.world.rule(rule(10, 'b')); // replaces the rule with the same name
  expect(await ask(world, 'POST', '/rules', rule(1, 'c'))).toMatchObject(refused);
  expect(await world.world.rules('world')).toHaveLength(2);
  await world.world.removeRule('a');
  await world.world.rule(rule(1, 'c'));
});

test('a verification has at most 20 regular expressions', async () => {
  const world = await worldOf();
  const steps = (count: number) => ({ sequence: many(count, (nth) => ({ remarks: { matches: `${nth}` } })) });
  expect((await ask(world, 'POST', '/requests/verify', steps(20))).status).toBe(200);
  expect(await ask(world, 'POST', '/requests/verify', steps(21))).toMatchObject(
    refusal(400, 'INVALID_REQUEST', `sequence ${TOO_MANY}`, ['sequence']),
  );
});

test('a text of more than 200 characters matches no regular expression', async () => {
  const world = await worldOf();
  await world.world.rule(ruleWith('^a'));
  expect((await world.pay({ remarks: 'a'.repeat(200) })).status).toBe(418);
  expect((await world.pay({ remarks: 'a'.repeat(201) })).status).toBe(200);
});

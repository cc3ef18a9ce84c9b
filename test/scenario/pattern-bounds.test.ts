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
  ['a{31,}', TOO_OFTEN],
  ['a{2}'.repeat(6), 'must not have more than 5 counted repetitions such as {3}'],
  ['(ab){2}', GROUP],
  ['(?i)[B-\u{1F600}]', RANGE],
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

const TOO_MANY =
  'brings the regular expressions to 21, at most 20 are allowed together: use prefix, suffix or a list instead';
const many = <T>(count: number, item: (nth: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, nth) => item(nth));

test('a scenario has at most 20 regular expressions', async () => {
  const world = await worldOf();
  const scenario = (count: number) => ({
    outcomes: [{ match: { remarks: { matches: '^a' } }, timeline: [] }],
    rules: many(count - 1, (nth) => ruleWith(`^${nth}`, `r${nth}`)),
  });
  expect((await ask(world, 'PUT', '/scenario', scenario(20))).status).toBe(200);
  expect(await ask(world, 'PUT', '/scenario', scenario(21))).toMatchObject(
    refusal(400, 'INVALID_REQUEST', `body ${TOO_MANY}`, ['body']),
  );
});

test('a text of more than 200 characters matches no regular expression', async () => {
  const world = await worldOf();
  await world.world.rule(ruleWith('^a'));
  expect((await world.pay({ remarks: 'a'.repeat(200) })).status).toBe(418);
  expect((await world.pay({ remarks: 'a'.repeat(201) })).status).toBe(200);
});

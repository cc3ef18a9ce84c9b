import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { linearPattern, writtenOutLength } from '../../src/scenario/pattern.ts';
import { ask, refusal } from '../support/control.ts';
import { clientFor, type Client } from '../support/sandbox.ts';
import { sized } from '../support/size.ts';
import { testRows } from '../support/test-rows.ts';

const atom = fc.constantFrom('a', '.', '\\d', '\\.', '[a-z]', '[^)(]', '\\p{L}', '^', '\\b', '|', '(?i)');
const repeated = fc.constantFrom('', '*', '+?', '?', '{3}', '{2,}', '{0,9}', '{4,7}');
const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc.array(tie('part'), { maxLength: 5 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(atom, repeated).map((parts) => parts.join('')),
    fc
      .tuple(fc.constantFrom('(', '(?:'), tie('pattern'), repeated)
      .map(([open, inner, times]) => `${open}${inner})${times}`),
  ),
}));

test('a regular expression compiles to at most twice as many instructions as it has characters when written out', () => {
  fc.assert(
    fc.property(pattern, (text) => {
      let instructions = 0;
      try {
        instructions = RE2JS.compile(text).programSize();
      } catch {
        return; // not a regular expression
      }
      expect(2 * writtenOutLength(text) + 3).toBeGreaterThanOrEqual(instructions); // each program has a start and an end
    }),
    { numRuns: sized(500, 2000) },
  );
});

testRows([
  ['^SBIN0', 6],
  ['[A-Z]{4}0[A-Z0-9]{6}', 30],
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 201],
  ['(?:a?){1000}', 12_000],
  ['a{0,100}', 108],
  ['\\pL+', 54],
])('a pattern has as many characters as its repetitions written out', (text, length) => {
  expect(writtenOutLength(text)).toBe(length);
});

const ruleWith = (matches: string, name = 'r') => ({
  name,
  match: { remarks: { matches } },
  effect: { respond: { status: 418 } },
});

const worldOf = async (): Promise<Client> => clientFor({ magic: 'off' });

test.each([
  ['PUT', '/scenario', { rules: [ruleWith('(?:a?){100}')] }],
  ['POST', '/rules', ruleWith('(?:a?){100}')],
  ['POST', '/requests/verify', { match: ruleWith('(?:a?){100}').match }],
])('%s %s refuses a regular expression of more than 250 characters', async (method, path, body) => {
  const { status, body: answer } = await ask(await worldOf(), method, path, body);
  expect([status, answer.errors.length]).toEqual([400, 1]);
  expect(answer.message).toContain(
    'is too long a regular expression: it has 1100 characters with its repetitions written out, at most 250 are allowed',
  );
});

test.each(['(?i)[B-\u{1F600}]', '(?si:[é-ü])', '(?i)[\\x{80}-\\x{10fffe}]'])(
  'the range in %s is refused: RE2 would look up each of its characters in both cases',
  (text) => {
    expect(linearPattern(text)).toEqual({
      error: 'must not combine (?i) with a range of characters beyond ASCII',
    });
  },
);

test.each(['(?i)order-[a-z]', '(?i)é-\\d', '[B-\u{1F600}]', '(?P<id>[é-ü])', '(?i)\\pL'])(
  '%s is allowed',
  (text) => {
    expect(linearPattern(text)).not.toHaveProperty('error');
  },
);

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
  const rules = many(21, (nth) => ({ ...ruleWith('('), name: `r${nth}`, times: nth === 7 ? 0 : 1 }));
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

test('the 500 regular expressions that were used last stay compiled; others are compiled again', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  onTestFinished(() => compile.mockRestore());
  const patternOf = (nth: number) => linearPattern(`kept ${nth}`);
  const first = patternOf(0);
  if ('error' in first) return expect.fail(first.error);
  for (let nth = 1; nth < 500; nth += 1) patternOf(nth);
  expect(compile).toHaveBeenCalledTimes(500);
  expect(first.test('b')).toBe(false); // now it was used last
  expect(compile).toHaveBeenCalledTimes(500);
  for (let nth = 500; nth < 1000; nth += 1) patternOf(nth);
  expect(first.test('b')).toBe(false);
  expect(compile).toHaveBeenCalledTimes(1001);
});

test('a text of more than 200 characters matches no regular expression', async () => {
  const world = await worldOf();
  await world.world.rule(ruleWith('^a'));
  expect((await world.pay({ remarks: 'a'.repeat(200) })).status).toBe(418);
  expect((await world.pay({ remarks: 'a'.repeat(201) })).status).toBe(200);
});

test('a verification whose regular expressions would take too long over the journal is refused', async () => {
  const world = await worldOf();
  const matches = '[^a]?'.repeat(49);
  const verify = () => ask(world, 'POST', '/requests/verify', { match: { remarks: { matches } } });
  await Promise.all(many(50, async () => world.pay({ remarks: 'a'.repeat(200) })));
  expect((await verify()).status).toBe(200); // each distinct text is matched once
  await Promise.all(many(45, async (nth) => world.pay({ remarks: `${nth}`.padEnd(200) })));
  expect(await verify()).toMatchObject(
    refusal(
      400,
      'INVALID_REQUEST',
      'The regular expressions of this verification take too long over this journal: use prefix, suffix or a list instead',
    ),
  );
});

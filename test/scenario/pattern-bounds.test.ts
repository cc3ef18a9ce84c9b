import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { linearPattern, patternSize } from '../../src/scenario/pattern.ts';
import { ask, refusal } from '../support/control.ts';
import { sandboxFor, type Client } from '../support/sandbox.ts';
import { sized } from '../support/size.ts';

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

test('the size of a regular expression is at least the number of its compiled instructions', () => {
  fc.assert(
    fc.property(pattern, (text) => {
      let instructions = 0;
      try {
        instructions = RE2JS.compile(text).programSize();
      } catch {
        return; // not a regular expression
      }
      expect(patternSize(text) + 3).toBeGreaterThanOrEqual(instructions); // each program has a start and an end
    }),
    { numRuns: sized(500, 2000) },
  );
});

test.each([
  ['^SBIN0', 10],
  ['[A-Z]{4}0[A-Z0-9]{6}', 30],
  ['^(?:[0-9]{4}-){3}$', 66],
  ['(?:a?){1000}', 12_000],
  ['a{0,100}', 208],
])('the size of %s is %i', (text, size) => {
  expect(patternSize(text)).toBe(size);
});

const ruleWith = (matches: string, name = 'r') => ({
  name,
  match: { remarks: { matches } },
  effect: { respond: { status: 418 } },
});

const worldOf = async (): Promise<Client> => (await sandboxFor({ magic: 'off' })).client();

test.each([
  ['PUT', '/scenario', { rules: [ruleWith('(?:a?){100}')] }],
  ['POST', '/rules', ruleWith('(?:a?){100}')],
  ['POST', '/requests/verify', { match: ruleWith('(?:a?){100}').match }],
])('%s %s refuses a regular expression of a size above 1,000', async (method, path, body) => {
  const { status, body: answer } = await ask(await worldOf(), method, path, body);
  expect([status, answer.errors.length]).toEqual([400, 1]);
  expect(answer.message).toContain(
    'is too large a regular expression: its size is 1100, at most 1000 is allowed',
  );
});

test('the regular expressions of a scenario have a total size of at most 8,000', async () => {
  const world = await worldOf();
  const rules = (count: number) =>
    Array.from({ length: count }, (_, nth) => ruleWith('a'.repeat(500), `r${nth}`));
  expect((await ask(world, 'PUT', '/scenario', { rules: rules(16) })).status).toBe(200);
  const refused = await ask(world, 'PUT', '/scenario', { rules: rules(18) });
  expect(refused).toMatchObject(
    refusal(
      400,
      'INVALID_REQUEST',
      'rules[16].match makes the regular expressions of this scenario too large: their size is 8500, at most 8000 is allowed. Use prefix, suffix or a list instead',
      ['rules[16].match'],
    ),
  );
});

test('the regular expressions of all rules of a world have a total size of at most 2,000', async () => {
  const world = await worldOf();
  for (const name of ['a', 'b', 'c', 'd']) await world.world.rule(ruleWith('a'.repeat(500), name));
  await world.world.rule(ruleWith('b'.repeat(500), 'd')); // replaces the rule with the same name
  expect(await ask(world, 'POST', '/rules', ruleWith('a', 'e'))).toMatchObject(
    refusal(400, 'INVALID_REQUEST', expect.stringContaining('their size is 2010, at most 2000 is allowed'), [
      'match',
    ]),
  );
  expect(await world.world.rules('world')).toHaveLength(4);
  await world.world.removeRule('a');
  await world.world.rule(ruleWith('a', 'e'));
});

test('the regular expressions of a verification have a total size of at most 2,000', async () => {
  const world = await worldOf();
  const step = { remarks: { matches: 'a'.repeat(1000) } };
  expect((await ask(world, 'POST', '/requests/verify', { sequence: [step, step] })).status).toBe(200);
  expect(await ask(world, 'POST', '/requests/verify', { sequence: [step, step, step] })).toMatchObject(
    refusal(400, 'INVALID_REQUEST', expect.stringContaining('this verification too large'), ['sequence']),
  );
});

test('patterns are dropped once those compiled later have a total size of 500,000, and are compiled again', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  onTestFinished(() => compile.mockRestore());
  const patternOf = (nth: number) => linearPattern(`${nth}`.padStart(5000, 'a'));
  const first = patternOf(0);
  if ('error' in first) return expect.fail(first.error);
  for (let nth = 1; nth < 100; nth += 1) patternOf(nth);
  expect(compile).toHaveBeenCalledTimes(100);
  expect(first.test('b')).toBe(false); // now it was used last
  expect(compile).toHaveBeenCalledTimes(100);
  for (let nth = 100; nth < 200; nth += 1) patternOf(nth);
  expect(first.test('b')).toBe(false);
  expect(compile).toHaveBeenCalledTimes(201);
});

test('a text of more than 200 characters matches no regular expression', async () => {
  const world = await worldOf();
  await world.world.rule(ruleWith('^a'));
  expect((await world.pay({ remarks: 'a'.repeat(200) })).status).toBe(418);
  expect((await world.pay({ remarks: 'a'.repeat(201) })).status).toBe(200);
});

test('a verification whose regular expressions would take too long over the journal is refused', async () => {
  const world = await worldOf();
  const matches = '[^a]?'.repeat(180); // its size is 900
  const verify = () => ask(world, 'POST', '/requests/verify', { match: { remarks: { matches } } });
  for (let nth = 0; nth < 12; nth += 1) await world.pay({ remarks: 'a'.repeat(200) });
  expect((await verify()).status).toBe(200); // each distinct text is matched once
  for (let nth = 0; nth < 12; nth += 1) await world.pay({ remarks: `${nth}`.padEnd(200) });
  expect(await verify()).toMatchObject(
    refusal(
      400,
      'INVALID_REQUEST',
      'The regular expressions of this verification take too long over this journal: use prefix, suffix or a list instead',
    ),
  );
});

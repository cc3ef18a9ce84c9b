import { expect, test } from 'vitest';
import type { RuleRequest } from '../../src/contract/control.ts';
import { putRules } from '../../src/dashboard/scenario/edited-rules.ts';
import { clientFor } from '../support/sandbox.ts';

const failing = (name: string, change: Partial<RuleRequest> = {}): RuleRequest => ({
  name,
  match: { route: 'initiate' },
  effect: { respond: { status: 500 } },
  ...change,
});
/** With so many patterns that a world cannot have three of them. */
const withPatterns = (name: string): RuleRequest => {
  const headers = Array.from({ length: 8 }, (_, nth) => [`x-${nth}`, { matches: `${nth}` }]);
  return failing(name, { match: { route: 'initiate', header: Object.fromEntries(headers) } });
};

async function worldWithRules() {
  const payer = await clientFor();
  for (const name of ['last', 'first']) await payer.world.rule(failing(name));
  const names = async () => (await payer.world.rules('world')).map(({ name }) => name);
  return { payer, names };
}

test('edited rules replace those on top, in their order', async () => {
  const { payer, names } = await worldWithRules();
  await putRules(payer.world, { rules: [failing('new'), failing('first', { times: 1 })] });
  expect(await names()).toEqual(['new', 'first']);
});

test('the overrides stay as they were if one of the edited rules is refused', async () => {
  const { payer, names } = await worldWithRules();
  const edited = ['first', 'a', 'b'].map(withPatterns);
  await expect(putRules(payer.world, { rules: edited })).rejects.toThrow('at most 20 are allowed');
  expect(await names()).toEqual(['first', 'last']);
  expect((await payer.pay()).status).toBe(500);
});

test('no payout passes while rules that fail every payout are edited', async () => {
  const { payer } = await worldWithRules();
  const [rule, removeRule] = [payer.world.rule.bind(payer.world), payer.world.removeRule.bind(payer.world)];
  const statuses: number[] = [];
  const payFirst = async (): Promise<void> => void statuses.push((await payer.pay()).status);
  payer.world.rule = (...args) => payFirst().then(() => rule(...args));
  payer.world.removeRule = (...args) => payFirst().then(() => removeRule(...args));
  await putRules(payer.world, { rules: [failing('one'), failing('other')] });
  expect(statuses).toEqual([500, 500, 500, 500]);
});

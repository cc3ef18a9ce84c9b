import { expect, test } from 'vitest';
import type { RuleResponse } from '../../src/contract/control-responses.ts';
import { FAILURES, orderText, ruleOf } from '../../src/dashboard/control-bar/failure-kinds.ts';

const rule = (document: object, change: Partial<RuleResponse> = {}): RuleResponse => ({
  id: 'world/r',
  name: 'r',
  from: 'world',
  description: '',
  matched: 0,
  taken: 0,
  rule: document,
  ...change,
});
const every = { match: { route: 'initiate' } };

test('an order is read back as the sentence that ordered it', () => {
  const [failure] = FAILURES;
  const order = ruleOf(failure!, 'initiate', 'next 3');
  expect(orderText(rule(order))).toBe('each of the next 3 initiate gets a 500 after the payout');
  expect(orderText(rule(order, { taken: 2 }))).toBe('the next initiate gets a 500 after the payout');
  expect(orderText(rule({ ...every, effect: { respond: 418 } }, { name: 'teapot' }))).toBe('teapot');
});

import { expect, test } from 'vitest';
import type { RuleResponse } from '../../src/contract/control-responses.ts';
import { FAILURES, orderText, ruleOf } from '../../src/dashboard/control-bar/failure-kinds.ts';
import { failureText, orderedFailure } from '../../src/dashboard/control-bar/ordered-failure.ts';
import { testRows } from '../support/test-rows.ts';

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

testRows([
  [{ ...every, effect: { respond: { status: 500 } } }, 'Every payout gets a 500, and is not made'],
  [{ ...every, effect: { commit: true, respond: 503 } }, 'Every payout gets a 503, although it is made'],
  [
    { ...every, effect: { commit: true, fault: 'hang' } },
    'Every payout gets no response, although it is made',
  ],
  [
    { ...every, effect: { fault: { kind: 'hang', for: '3s' } } },
    'Every payout gets no response, and is not made',
  ],
  [{ ...every, effect: { fault: 'garbage' } }, 'Every payout ends in garbage, and is not made'],
  [{ effect: { respond: 500 } }, 'Every payout gets a 500, and is not made'],
  [
    { match: { route: ['initiate', 'status'] }, effect: { respond: 500 } },
    'Every payout gets a 500, and is not made',
  ],
  [
    { ...every, times: 3, effect: { respond: 500 } },
    'Each of the next 2 payouts gets a 500, and is not made',
  ],
])('a sentence says how every payout fails with a rule', (document, text) => {
  expect(failureText(orderedFailure([rule(document, { taken: 1 })])!)).toBe(text);
});

testRows([
  [
    'for only some payouts',
    { match: { route: 'initiate', transfer_mode: 'NEFT' }, effect: { respond: 500 } },
  ],
  ['for status reads', { match: { route: 'status' }, effect: { respond: 500 } }],
  ['for one payout in two', { ...every, probability: 0.5, effect: { respond: 500 } }],
  ['for payouts past a limit', { ...every, effect: { respond: 429, limit: { max: 3, per: '10s' } } }],
  ['for a limited time', { ...every, during: { from: '1m', for: '1m' }, effect: { respond: 500 } }],
  ['that was used up', { ...every, times: 1, effect: { respond: 500 } }],
  ['that only delays answers', { ...every, effect: { delay: '3s' } }],
  ['that answers with another success', { ...every, effect: { respond: { status: 200 } } }],
])('a rule that spares some payouts is not announced as a failure of every payout', (_what, document) => {
  expect(orderedFailure([rule(document, { taken: 1 })])).toBeNull();
});

test('a failure behind a rule that takes every payout is not announced', () => {
  const failing = rule({ ...every, effect: { respond: 500 } });
  const before = (document: object) => orderedFailure([rule(document), failing]);
  expect(before({ ...every, effect: { delay: '5s' } })).toBeNull();
  expect(before({ ...every, times: 1, effect: { delay: '5s' } })).toBeNull();
  expect(before({ ...every, times: 0, effect: { delay: '5s' } })?.rule).toBe(failing);
  expect(before({ ...every, effect: { limit: { max: 3, per: '10s' } } })?.rule).toBe(failing);
  expect(before({ match: { route: 'status' }, effect: { delay: '5s' } })?.rule).toBe(failing);
});

test('an order is read back as the sentence that ordered it', () => {
  const [failure] = FAILURES;
  const order = ruleOf(failure!, 'initiate', 'next 3', ['500-after-payout']);
  expect(order.name).toBe('500-after-payout-2'); // it replaces no other order
  expect(orderText(rule(order))).toBe('each of the next 3 initiate gets a 500 after the payout');
  expect(orderText(rule(order, { taken: 2 }))).toBe('the next initiate gets a 500 after the payout');
  expect(orderText(rule({ ...every, effect: { respond: 418 } }, { name: 'teapot' }))).toBe('teapot');
});

import { expect, test } from 'vitest';
import { readBody } from '../../src/world/journal/kept-request.ts';
import { digest, payoutDraw, payoutIds, requestDraw, worldIdOf } from '../../src/payout/identity.ts';
import { isTooNested, MAX_NESTING } from '../../src/contract/service.ts';
import type { RequestCommand } from '../../src/world/request/request-commands.ts';
import { planRequest } from '../../src/world/request/request-plan.ts';
import type { WorldState } from '../../src/world/state-shape.ts';
import { testRows } from '../support/test-rows.ts';
import { balance, Core, initiate, load, oneRule, save, status } from '../support/world/core.ts';
import type { ScenarioInput } from '../../src/contract/control.ts';

test('a body is read as JSON where it is some, and not where it is none or too deep', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect([undefined, '', '0', '"a"', '{', 'text'].map(readBody)).toEqual([null, null, 0, 'a', '{', 'text']);
  expect(readBody(deep(MAX_NESTING))).toBeInstanceOf(Array);
  expect(readBody(deep(MAX_NESTING + 1))).toBe(deep(MAX_NESTING + 1));
});

testRows<[tooDeep: boolean, text: string]>([
  [false, '['.repeat(100)],
  [true, '['.repeat(101)],
  [true, '{'.repeat(101)],
  [true, '[{'.repeat(51)],
  [false, '[]'.repeat(101)],
  [false, '{}'.repeat(101)],
  [true, `${'[]'.repeat(9)}${'['.repeat(101)}`],
  [true, `${'{}'.repeat(9)}${'{'.repeat(101)}`],
  [false, `"${'['.repeat(101)}"`],
  [true, `"a"${'['.repeat(101)}`],
  [false, `"\\"${'['.repeat(101)}"`],
  [true, `"\\\\"${'['.repeat(101)}`],
  [false, `${'['.repeat(100)}"["`],
  [false, '"'.repeat(3) + '['.repeat(101)],
  [true, `\\${'['.repeat(101)}`],
])('brackets count as nesting only outside of strings', (tooDeep, text) => {
  expect(isTooNested(text)).toBe(tooDeep);
});

test('ids and draws depend on all that they are made of, and stay as they are from version to version', () => {
  expect(worldIdOf('sk_test_demo')).toBe('a7d0c707c74a5bce513453fd02f4155d'); // by which stores and state files find it
  const ids = payoutIds('seed', 'world', 'order-1', 1);
  expect(ids).toEqual({ txnId: expect.stringMatching(/^TXN[0-9A-F]{24}$/), utrSerial: expect.any(Number) });
  const hex = digest(['payout', 'seed', 'world', 'order-1', 1]);
  expect(ids.txnId).toBe(`TXN${hex.slice(0, 24).toUpperCase()}`);
  expect(ids.utrSerial).toBe(Number.parseInt(hex.slice(24, 36), 16) % 1e9);
  const drawn = (...of: (string | number)[]) => Number.parseInt(digest(of).slice(0, 12), 16) / 2 ** 48;
  expect(payoutDraw('seed', 'order-1', 1)('delay')).toBe(drawn('draw', 'seed', 'order-1', 1, 'delay'));
  const asked = drawn('request', 'seed', 'status', 'a', 2, 'delay');
  expect(requestDraw('seed', 'status', 'a', 2)('delay')).toBe(asked);
});

/** What is planned for a request that was sent six times before, and what was counted. */
function planned(document: ScenarioInput, command: RequestCommand = initiate()) {
  const { state } = new Core(document, { seed: 'theirs' });
  for (const key of ['initiate a', 'status T', 'balance '])
    state.attempts.counts.set(key, { count: 6, payout: 0 });
  const plan = planRequest(state, command, state.index.active, { transactionsFree: 1 });
  const counted = [...state.attempts.counts].filter(([, { count }]) => count > 6).map(([key]) => key);
  return { plan, counted };
}

test('initiates are always counted, other requests where a rule depends on it', () => {
  const counting = oneRule({ stale: '1s' }, { match: { attempt: 9 } });
  expect(planned({})).toMatchObject({
    counted: ['initiate a'],
    plan: { attempt: 7, rule: null, delayMs: 0 },
  });
  expect(planned({}, status({ txn_id: 'T' }))).toMatchObject({ counted: [], plan: { attempt: 0 } });
  expect(planned(counting, status({ txn_id: 'T' }))).toMatchObject({
    counted: ['status T'],
    plan: { attempt: 7 },
  });
  expect(planned(counting, balance()).counted).toEqual(['balance ']);
  expect(planned({}).plan.draw('x')).toBe(requestDraw('theirs', 'initiate', 'a', 0)('x'));
  expect(planned(counting).plan.draw('x')).toBe(requestDraw('theirs', 'initiate', 'a', 7)('x'));
});

testRows<ScenarioInput>([
  { settlement: 'demo' },
  { outcomes: [{ timeline: [{ to: 'SUCCESS', after: '2s' }] }] },
])('payouts with the same settlement share their timeline, also once it is over', (document) => {
  const world = new Core(document);
  const isShared = ({ payouts }: WorldState) => payouts[0]!.timeline === payouts[1]!.timeline;
  for (const reference of ['a', 'b']) world.pay(reference);
  expect(isShared(world.state)).toBe(true);
  world.balance(2000); // settles both
  expect(world.payout('a')).toMatchObject({ state: 'SUCCESS' });
  expect(isShared(world.state)).toBe(true);
  expect(isShared(load(save(world.state)))).toBe(true);
});

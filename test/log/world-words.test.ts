import { expect, test } from 'vitest';
import { Behaviour } from '../../src/world/behaviour.ts';
import {
  dropped,
  movedMeanwhile,
  repeated,
  unknownTransaction,
  type DropReason,
} from '../../src/world/payout-refusals.ts';
import type { Rule } from '../../src/scenario/rule.ts';
import { born } from '../../src/payout/payout.ts';
import { piecesOf, type WorldState } from '../../src/world/world-state.ts';
import { planOf, request, ruleOf, scenarioOf, worldFor } from '../support/one-world.ts';
import { newPayout } from '../support/payouts.ts';

test.each<[both: 'same' | 'client_ref_id' | 'txn_id' | 400, found: string]>([
  ['same', 'none'],
  ['client_ref_id', 'a'],
  ['txn_id', 'b'],
  [400, 'client_ref_id must be given alone'],
])('asked by two names, of which each is another payout, where the dialect says %s', async (both, found) => {
  const { world } = worldFor();
  const plan = planOf({ status: { both } });
  await world.initiate(request({ client_ref_id: 'a' }), plan);
  const b = (await world.initiate(request({ client_ref_id: 'b' }), plan)).transaction;
  const seen = await world.status({ client_ref_id: 'a', txn_id: b.txnId }, plan).then(
    ({ clientRefId }) => clientRefId,
    (error: { code: string; details: { errors?: { message: string }[] } }) =>
      error.details.errors?.[0]?.message ?? 'none',
  );
  expect(seen).toBe(found);
  expect((await world.status({ client_ref_id: 'a' }, plan)).clientRefId).toBe('a');
  expect((await world.status({ txn_id: b.txnId }, plan)).clientRefId).toBe('b');
  await expect(world.status({}, plan)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
});

test('a read that is stale shows what was, so much before', async () => {
  const { world } = worldFor();
  await world.initiate(request(), planOf());
  await world.book.move({ byMs: 5000 }, () => null);
  const state = async (stale?: number) => {
    const rule = stale === undefined ? null : ruleOf('r', { stale });
    return (await world.status({ client_ref_id: 'order-1' }, planOf({}, rule))).state;
  };
  expect([await state(), await state(3000), await state(3001)]).toEqual(['SUCCESS', 'SUCCESS', 'PENDING']);
});

test('a refusal for the balance is remembered where the dialect says so, and is written down with the balance', async () => {
  for (const after_402 of ['forget', 'remember'] as const) {
    const { world } = worldFor();
    const plan = planOf({ client_ref_id: { after_402 } });
    const balances = {};
    await expect(world.initiate(request({ amount: 11 }), plan, balances)).rejects.toMatchObject({
      code: 'INSUFFICIENT_BALANCE',
    });
    expect(balances).toEqual({ balanceBeforePaise: 1000, balancePaise: 1000 });
    const again = await world.initiate(request(), plan).then(
      () => 'made',
      (error: { code: string }) => error.code,
    );
    expect(again).toBe(after_402 === 'forget' ? 'made' : 'INSUFFICIENT_BALANCE');
    expect((await world.state()).refused).toEqual(after_402 === 'forget' ? [] : ['order-1']);
  }
});

test('a dialect that pays twice pays as often as it is asked, and the balance before is that of the first round', async () => {
  const { world } = worldFor();
  const plan = planOf({ client_ref_id: { same_body: 'second_payout' } });
  for (const before of [1000, 900, 800]) {
    const balances = {};
    const { transaction, replayed } = await world.initiate(request(), plan, balances);
    expect([transaction.nth, replayed]).toEqual([(1100 - before) / 100, false]);
    expect(balances).toEqual({ balanceBeforePaise: before, balancePaise: before - 100 });
  }
  const balances = {};
  await world.balance(balances);
  expect(balances).toEqual({ balanceBeforePaise: 700, balancePaise: 700 });
  const first = { balanceBeforePaise: 5 };
  await world.balance(first);
  expect(first).toEqual({ balanceBeforePaise: 5, balancePaise: 700 });
});

test('a rule that is taken is told to those who watch, with how often it was', () => {
  const scenario = scenarioOf({ rules: [{ name: 'r', match: { route: 'initiate' }, effect: {} }] });
  const { world, watch, told } = worldFor({ scenario });
  watch();
  for (const route of ['initiate', 'status', 'initiate'] as const)
    world.plan({ scenario, route, fields: { client_ref_id: 'a' }, headers: {} });
  expect(told()).toEqual([1, 2].map((times) => ['rule', { rule: 'test/r', matched: times, taken: times }]));
});

test('a world that is reset is as new, under the same name', async () => {
  const { world, watch, told, historyBudget, attemptBudget } = worldFor();
  const first = (await world.initiate(request(), planOf())).transaction;
  const plan = () =>
    world.plan({ scenario: world.scenario, route: 'initiate', fields: { client_ref_id: 'a' }, headers: {} });
  expect([plan().attempt, plan().attempt, world.lives]).toEqual([1, 2, 1]);
  watch();
  await world.reset();
  expect([plan().attempt, world.lives, attemptBudget.held]).toEqual([1, 2, 1]);
  expect((await world.initiate(request(), planOf())).transaction).toEqual(first);
  expect(told()).toEqual([['reset', { now: '2026-01-15T10:30:00.000Z' }]]);
  await world.close('admin');
  expect([attemptBudget.held, historyBudget.bytes]).toEqual([0, 0]);
});

test('a world that was forked makes the ids of the one that it came from, until it is reset', async () => {
  const { world: one } = worldFor();
  const state = { ...(await one.state()), identity: 'another' };
  const { world, told, watch } = worldFor();
  const own = (await world.initiate(request(), planOf())).transaction.txnId;
  watch();
  const [older, newer] = [ruleOf('older'), ruleOf('newer')];
  const restore = (head: WorldState, rules: readonly Rule[]) =>
    world.restore(head, piecesOf(state), () => ({ scenario: null, rules, clock: world.book.clock }));
  expect(await restore({ ...state, openingBalancePaise: 1 }, [])).toMatchObject({ kind: 'damaged' });
  expect([world.lives, world.behaviour.onTop]).toEqual([1, []]);
  expect(await restore(state, [newer, older])).toMatchObject({ kind: 'restored' });
  expect([world.lives, world.behaviour.onTop]).toEqual([2, [newer, older]]);
  const forked = (await world.initiate(request(), planOf())).transaction.txnId;
  await world.reset();
  const again = (await world.initiate(request(), planOf())).transaction.txnId;
  expect([forked === own, again === own]).toEqual([false, true]);
  expect(told().map(([type]) => type)).toEqual(['restore', 'reset']);
});

test('rules on top go before those of any scenario, and are made anew only when something changed', () => {
  const counting = ruleOf('counting', {}, { probability: 0.5 });
  let inForce = scenarioOf({ rules: [{ name: 'own', effect: {} }] });
  const behaviour = new Behaviour(() => inForce);
  expect([behaviour.scenario === inForce, behaviour.over(inForce) === inForce]).toEqual([true, true]);
  behaviour.put(counting);
  const { scenario } = behaviour;
  expect(scenario.rules.map(({ id }) => id)).toEqual(['test/counting', 'test/own']);
  expect([scenario.countsAttempts, inForce.countsAttempts]).toEqual([true, false]);
  expect(behaviour.scenario).toBe(scenario);
  inForce = scenarioOf();
  expect(behaviour.scenario.rules).toEqual([counting]);
  const chosen = scenarioOf({ description: 'chosen' });
  behaviour.choose(chosen);
  expect([behaviour.plain === chosen, behaviour.hasChosen, behaviour.scenario.description]).toEqual([
    true,
    true,
    'chosen',
  ]);
  expect([behaviour.remove('test/none'), behaviour.onTop]).toEqual([false, [counting]]);
  expect([behaviour.remove('test/counting'), behaviour.scenario]).toEqual([true, chosen]);
});

test('refusals say what was, and which limit it was', () => {
  const earlier = born(newPayout('a'));
  const words = [true, false].map((sameBody) => {
    const { message, details } = repeated(400, earlier, sameBody);
    return [message, details['errors']];
  });
  const field = (values: string) => [
    { field: 'client_ref_id', message: `client_ref_id was used before, with ${values} values` },
  ];
  expect(words).toEqual([
    [`This client_ref_id was used before (${earlier.txnId})`, field('the same')],
    [`This client_ref_id was used before, for another payout (${earlier.txnId})`, field('other')],
  ]);
  const limits = {
    idle: 'SANDBOX_WORLD_IDLE',
    cap: 'SANDBOX_MAX_WORLDS',
    admin: 'DELETE /_sandbox/worlds',
    stop: 'stop',
  };
  for (const [reason, limit] of Object.entries(limits)) {
    const refusal = dropped(reason as DropReason);
    expect([refusal.code, refusal.details['limit']]).toEqual(['SANDBOX_FULL', limit]);
    expect(refusal.message).toMatch(/^This world was dropped while the request waited: \w+ /);
  }
  expect(movedMeanwhile()).toMatchObject({
    code: 'WORLD_REPLACED',
    message: expect.stringContaining('while its clock moved'),
  });
  expect([
    unknownTransaction(404, 'a/b').details['rule'],
    unknownTransaction(400, null).details['rule'],
  ]).toEqual(['a/b', undefined]);
  expect([unknownTransaction(404, null).code, unknownTransaction(400, null).code]).toEqual([
    'TRANSACTION_NOT_FOUND',
    'TRANSACTION_UNKNOWN',
  ]);
});

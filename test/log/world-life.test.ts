import { expect, test } from 'vitest';
import type { Exchange } from '../../src/world/exchange.ts';
import { piecesOf } from '../../src/world/world-state.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import type { InitiateOutcome } from '../../src/ledger/ledger.ts';
import { planOf, request, ruleOf, scenarioOf, worldFor } from '../support/one-world.ts';

const asked = { url: '/', headers: {} } as unknown as Exchange;

test('a world that chooses a scenario opens its untouched wallet by it, and tells the name', async () => {
  const { world, watch, told } = worldFor();
  const chosen = { ...scenarioOf(), name: 'rich', openingBalancePaise: 777 };
  watch();
  await world.choose(chosen);
  expect(world.scenario).toBe(chosen);
  expect((await world.balance()).balancePaise).toBe(777);
  await world.initiate(request(), planOf());
  await world.choose(null);
  expect([world.behaviour.hasChosen, (await world.balance()).balancePaise]).toEqual([false, 677]);
  expect(told()).toEqual([
    ['scenario', { scenario: 'rich' }],
    ['scenario', { scenario: 'test' }],
  ]);
});

test('a payout that is only imagined is the one that is made', async () => {
  const { world } = worldFor();
  const imagined = world.imagine(request(), planOf());
  expect((await world.balance()).balancePaise).toBe(1000);
  expect((await world.initiate(request(), planOf())).transaction).toEqual(imagined);
});

test('a second payout of a reference is made in two rounds, however many there are', async () => {
  const rounds: string[] = [];
  class Counting extends MemoryLedger {
    override async initiate(...args: Parameters<MemoryLedger['initiate']>): Promise<InitiateOutcome> {
      const outcome = await super.initiate(...args);
      rounds.push(outcome.kind);
      return outcome;
    }
  }
  const { world } = worldFor({ ledger: new Counting(100) });
  const plan = planOf({ client_ref_id: { same_body: 'second_payout' } });
  for (let nth = 1; nth <= 4; nth += 1) {
    rounds.length = 0;
    expect((await world.initiate(request(), plan)).transaction.nth).toBe(nth);
    expect(rounds).toEqual(nth === 1 ? ['accepted'] : ['repeated', 'accepted']);
  }
});

test('a status read writes down the balance before and after', async () => {
  const { world } = worldFor();
  await world.initiate(request(), planOf());
  const balances = {};
  await world.status({ client_ref_id: 'order-1' }, planOf(), balances);
  expect(balances).toEqual({ balanceBeforePaise: 900, balancePaise: 900 });
});

test('a settlement is told to those who watch', async () => {
  const { world, watch, told } = worldFor();
  const { transaction } = await world.initiate(request(), planOf());
  watch();
  await world.book.move({ byMs: 5000 }, () => null);
  expect(told()).toEqual([
    ['settlement', expect.objectContaining({ txn_id: transaction.txnId, to: 'SUCCESS' })],
  ]);
});

test('a state keeps how often each rule was used and each reference asked for, as they are then', async () => {
  const { world } = worldFor();
  world.behaviour.put(ruleOf('r', {}, { match: { route: 'initiate' } }));
  const ask = (of: typeof world) =>
    of.plan({ scenario: of.scenario, route: 'initiate', fields: { client_ref_id: 'a' }, headers: {} });
  ask(world);
  ask(world);
  const state = await world.state();
  expect(state.uses).toEqual([['test/r', { matched: 2, taken: 2 }]]);
  expect(state.attempts).toEqual({ old: [], young: [['initiate a', 2]] });
  ask(world);
  expect(state.uses).toEqual([['test/r', { matched: 2, taken: 2 }]]);

  const { world: other, watch, told } = worldFor();
  watch();
  await other.restore(state, piecesOf(state), () => ({
    scenario: null,
    rules: world.behaviour.onTop,
    clock: state.clock,
  }));
  expect(told()).toEqual([['restore', { now: '2026-01-15T10:30:00.000Z' }]]);
  expect(ask(other).attempt).toBe(3);
  expect(other.behaviour.uses.get('test/r')).toEqual({ matched: 3, taken: 3 });
  expect(state.uses).toEqual([['test/r', { matched: 2, taken: 2 }]]);
});

test('a reset ends the answers that are held back and forgets what was asked and put on top, but goes on', async () => {
  const { world } = worldFor();
  let ended = 0;
  world.held.hold(() => (ended += 1));
  world.journal.begin(asked, 0);
  world.behaviour.put(ruleOf('r'));
  await world.reset();
  expect([ended, world.journal.exchanges, world.behaviour.onTop]).toEqual([1, [], []]);
  world.held.hold(() => (ended += 1));
  expect([ended, world.held.isForGood]).toEqual([1, false]);
});

test('a world that is closed ends the answers that it holds back, those that come later too, and its readers', async () => {
  const { world, historyBudget } = worldFor();
  let ended = 0;
  world.held.hold(() => (ended += 1));
  world.journal.begin(asked, 0);
  world.events.read(undefined, { take: () => undefined, end: () => (ended += 10) });
  await world.close('stop');
  expect([ended, world.held.isForGood, historyBudget.bytes]).toEqual([11, true, 0]);
  world.held.hold(() => (ended += 1));
  expect(ended).toBe(12);
  await expect(world.balance()).rejects.toMatchObject({ code: 'SANDBOX_FULL', details: { limit: 'stop' } });
});

import { expect, test } from 'vitest';
import { DAY_MS, PLAN, payout, SCENARIO, worldsFor } from '../support/worlds.ts';
import type { Change } from '../../src/payout/payout.ts';
import { HistoryBudget } from '../../src/world/bounded-log.ts';
import { World } from '../../src/log/world.ts';
import { MemoryLedger } from '../../src/ledger/memory.ts';
import { sha256 } from '../../src/platform/digest.ts';

const all = (changes: readonly Change[]): readonly Change[] => changes;

test('a settlement is announced at its time, though nobody asks', async () => {
  const { worlds, wallClock, announced } = worldsFor();
  await worlds.of('k').initiate(payout(), PLAN);
  await wallClock.pass(1_999);
  expect(announced).toEqual([]);
  await wallClock.pass(1);
  expect(announced).toMatchObject([{ clientRefId: 'order-1', to: 'SUCCESS' }]);
});

test('a sandbox with nothing due has no timer but the one that drops idle worlds', async () => {
  const { worlds, wallClock } = worldsFor();
  expect(wallClock.alarms).toBe(0);
  await worlds.of('k').initiate(payout(), PLAN);
  expect(wallClock.alarms).toBe(2);
  await wallClock.pass(5_000);
  expect(wallClock.alarms).toBe(1);
  await wallClock.pass(2 * DAY_MS);
  expect(worlds.size).toBe(0);
  expect(wallClock.alarms).toBe(0);
});

test('a frozen world settles nothing, however much wall time passes; resumed, it goes on where it stood', async () => {
  const { worlds, wallClock, announced } = worldsFor();
  const world = worlds.of('k');
  await world.initiate(payout(), PLAN);
  await wallClock.pass(1_500);
  await world.book.freeze();
  const frozenAtMs = world.nowMs;
  await wallClock.pass(60_000);
  expect(world.nowMs).toBe(frozenAtMs);
  expect(announced).toEqual([]);
  await world.book.resume();
  await wallClock.pass(499);
  expect(announced).toEqual([]);
  await wallClock.pass(1);
  expect(announced).toMatchObject([{ atMs: frozenAtMs + 500 }]);
});

test('a running world that is advanced runs on from there', async () => {
  const { worlds, wallClock } = worldsFor();
  const world = worlds.of('k');
  const beforeMs = world.nowMs;
  await world.book.move({ byMs: DAY_MS }, all);
  await wallClock.pass(1_000);
  expect(world.nowMs).toBe(beforeMs + DAY_MS + 1_000);
});

test('an advance tells of all that came due, and requests that come meanwhile wait for it', async () => {
  const { worlds, wallClock, announced } = worldsFor();
  const world = worlds.of('k');
  const count = 5_000; // more than are applied at once
  for (let nth = 0; nth < count; nth += 1)
    await world.initiate(payout({ client_ref_id: `order-${nth}`, amount: 1 }), PLAN);
  const advanced = world.book.move({ byMs: 60_000 }, all);
  const meanwhile = world.status({ client_ref_id: `order-${count - 1}` }, PLAN);
  const second = world.book.move({ byMs: 1_000 }, all);
  expect((await advanced).flat()).toHaveLength(count);
  expect((await meanwhile).state).toBe('SUCCESS');
  expect(await second).toEqual([]);
  expect(announced).toHaveLength(count);
  expect(wallClock.alarms).toBe(1);
});

test('an advance of one world leaves others as they are', async () => {
  const { worlds } = worldsFor();
  await worlds.of('a').initiate(payout(), PLAN);
  await worlds.of('b').initiate(payout(), PLAN);
  await worlds.of('a').book.move({ byMs: 60_000 }, all);
  expect((await worlds.of('a').status({ client_ref_id: 'order-1' }, PLAN)).state).toBe('SUCCESS');
  expect((await worlds.of('b').status({ client_ref_id: 'order-1' }, PLAN)).state).toBe('PENDING');
});

test('the clock of a world ends with the year 9999', async () => {
  const { worlds } = worldsFor();
  const world = worlds.of('k');
  const beforeMs = world.nowMs;
  await expect(world.book.move({ byMs: 8_000 * 365 * DAY_MS }, all)).rejects.toThrow(
    'ends with the year 9999',
  );
  expect(world.nowMs).toBe(beforeMs);
});

test('the world that was idle longest makes room for a new one, and this is told', async () => {
  const { worlds, drops } = worldsFor({ maxWorlds: 2 });
  const [first, second] = [worlds.of('a'), worlds.of('b')];
  await first.initiate(payout(), PLAN);
  await second.initiate(payout(), PLAN);
  expect(worlds.of('a')).toBe(first);
  worlds.of('c');
  expect(drops).toEqual([[second.id, 'cap']]);
  expect(worlds.size).toBe(2);
  expect(worlds.of('a')).toBe(first);
  await expect(worlds.of('b').status({ client_ref_id: 'order-1' }, PLAN)).rejects.toThrow(
    'No such transaction',
  );
});

test('a world without a request for a day is dropped, and this is told', async () => {
  const { worlds, wallClock, drops } = worldsFor();
  const [first, second] = [worlds.of('a'), worlds.of('b')];
  await wallClock.pass(DAY_MS / 2);
  worlds.of('a');
  await wallClock.pass(DAY_MS / 2);
  expect(drops).toEqual([[second.id, 'idle']]);
  expect(worlds.of('a')).toBe(first);
  await wallClock.pass(DAY_MS);
  expect(drops).toHaveLength(2);
});

test('a request that is still under way when its world is dropped says so and leaves nothing behind', async () => {
  const { worlds, failures } = worldsFor({ maxWorlds: 1, maxTransactions: 1 });
  const world = worlds.of('a');
  worlds.of('b');
  await expect(world.initiate(payout(), PLAN)).rejects.toMatchObject({ code: 'SANDBOX_FULL' });
  await expect(worlds.of('b').initiate(payout(), PLAN)).resolves.toMatchObject({ replayed: false });
  expect(failures).toEqual([]);
});

test('a world past the cap on transactions refuses and names the setting', async () => {
  const { worlds } = worldsFor({ maxTransactions: 2 });
  await worlds.of('a').initiate(payout(), PLAN);
  await worlds.of('b').initiate(payout(), PLAN);
  await expect(worlds.of('b').initiate(payout({ client_ref_id: 'order-2' }), PLAN)).rejects.toMatchObject({
    code: 'SANDBOX_FULL',
    message: expect.stringContaining('SANDBOX_MAX_TRANSACTIONS'),
    details: { limit: 'SANDBOX_MAX_TRANSACTIONS' },
  });
});

test('a settlement that fails inside is told, not thrown into the process', async () => {
  const { worlds, wallClock, failures } = worldsFor();
  const broken = new Error('the store is gone');
  class BrokenLedger extends MemoryLedger {
    override settle(): Promise<never> {
      return Promise.reject(broken);
    }
  }
  const seen: unknown[] = [];
  const world = new World('w', {
    scenarioInForce: () => SCENARIO,
    attemptBudget: { max: 1000, held: 0 },
    historyBudget: new HistoryBudget(1_000_000),
    journalLimits: { items: 10, bytes: 100_000 },
    ledger: new BrokenLedger(10),
    digest: sha256,
    wallClock,
    observer: { settled: () => undefined, failed: (_id, error) => seen.push(error) },
  });
  await world.initiate(payout(), PLAN);
  await wallClock.pass(2_000);
  expect(seen).toEqual([broken]);
  expect(failures).toEqual([]);
  expect(worlds.size).toBe(0);
});

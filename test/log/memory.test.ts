import { describe, expect, test } from 'vitest';
import { sourceOf, DAY_MS, balance, initiate, load, logFor, save, SETTINGS } from '../support/core.ts';
import type { Exchange } from '../../src/world/journal/exchange.ts';

const asked = (change: Partial<Exchange> = {}): Exchange =>
  ({ nth: 0, method: 'GET', url: '/', headers: {}, outcome: 'pending', atMs: 0, ...change }) as Exchange;
const FULL = { code: 'SANDBOX_FULL', details: { limit: 'SANDBOX_MAX_TRANSACTIONS' } };

describe('worlds', () => {
  test('are opened at their first use, and every use is counted', () => {
    const { log, world } = logFor();
    const a = world('a');
    expect(world('a')).toBe(a);
    expect(world('b')).not.toBe(a);
    expect([log.size, log.uses]).toEqual([2, 3]);
  });

  test('are listed by their latest use, with the times of their first and latest', async () => {
    const { log, world, wallClock } = logFor();
    const start = wallClock.nowMs();
    const [a, b] = [world('a'), world('b')];
    await wallClock.pass(10);
    world('a');
    const rows = (await log.rows(log.ids())).map(({ id, openedAtMs, usedAtMs }) => [
      id,
      openedAtMs - start,
      usedAtMs - start,
    ]);
    expect(rows).toEqual([
      [b.id, 0, 0],
      [a.id, 0, 10],
    ]);
  });

  test('make room for a new one, the idlest first', async () => {
    const { log, world, drops } = logFor({ maxWorlds: 2 });
    const [a, b] = [world('a'), world('b')];
    await a.submit(initiate());
    await b.submit(initiate());
    world('a');
    world('c');
    expect([drops, log.size, world('a')]).toEqual([[[b.id, 'cap']], 2, a]);
    expect(await world('b').read(({ payouts }) => payouts)).toEqual([]);
  });

  test('are dropped after a day without a use; one timer waits for the idlest', async () => {
    const { log, world, wallClock, drops } = logFor();
    expect(wallClock.timers).toBe(0);
    const [a, b] = [world('a'), world('b')];
    expect(wallClock.timers).toBe(1);
    await wallClock.pass(DAY_MS - 1);
    world('b');
    expect(drops).toEqual([]);
    await wallClock.pass(1);
    expect([drops, wallClock.timers]).toEqual([[[a.id, 'idle']], 1]);
    await wallClock.pass(DAY_MS - 1);
    expect([drops[1], log.size, wallClock.timers]).toEqual([[b.id, 'idle'], 0, 0]);
    world('c');
    expect(wallClock.timers).toBe(1);
  });

  test('are dropped by an operator once; the next use opens a new one, and a drop counts as a use', async () => {
    const { log, world, drops } = logFor();
    const a = world('a');
    expect([log.drop(a.id), log.drop(a.id), log.uses]).toEqual([true, false, 2]);
    expect([drops, a.isClosed]).toEqual([[[a.id, 'admin']], true]);
    expect(world('a')).not.toBe(a);
  });

  test('all end with the sandbox: no timer is left, and no world can be opened', async () => {
    const { log, world, wallClock, drops } = logFor({ settings: { settlement: 'demo' } });
    const a = world('a');
    await a.submit(initiate());
    let ended = 0;
    a.delayed.hold(() => (ended += 1));
    a.watch(undefined, { take: () => undefined, end: () => (ended += 10) });
    log.release();
    expect([ended, a.delayed.isForGood, a.isClosed]).toEqual([11, true, false]);
    log.close();
    log.close();
    expect([log.size, wallClock.timers, a.isClosed, drops]).toEqual([0, 0, true, []]);
    expect(() => world('a')).toThrow('the sandbox is closed');
    await expect(a.submit(balance())).rejects.toMatchObject({
      code: 'SANDBOX_FULL',
      details: { limit: 'stop' },
    });
  });
});

describe('records are counted over all worlds', () => {
  test('by payouts, credits, debits and remembered refusals', async () => {
    const { log, world } = logFor({ document: { dialect: { client_ref_id: { after_402: 'remember' } } } });
    const a = world('a');
    await a.submit(initiate());
    await a.submit(initiate());
    await world('b').submit(initiate({ amount: 99 }));
    await a.submit({ kind: 'credit', amountPaise: 5 });
    await a.submit({ kind: 'debit', amountPaise: 5 });
    expect(log.recordsHeld).toBe(4);
  });

  test('beyond the limit every world refuses, and names the setting', async () => {
    const { world } = logFor({ maxRecords: 2 });
    await world('a').submit(initiate());
    await world('b').submit(initiate());
    expect(await world('b').submit(initiate({ client_ref_id: 'next' }))).toMatchObject({
      answer: { kind: 'refused', refusal: FULL },
    });
    await expect(world('a').submit({ kind: 'credit', amountPaise: 1 })).rejects.toMatchObject(FULL);
  });

  test('a drop, a reset and a restore give room back', async () => {
    const { log, world } = logFor({ maxRecords: 3 });
    const [a, b] = [world('a'), world('b')];
    await a.submit(initiate());
    const one = save(await a.read((state) => state));
    await a.submit(initiate({ client_ref_id: 'next' }));
    await b.submit(initiate());
    await a.submit({ kind: 'restore', state: load(one), clock: 'from-snapshot' });
    expect(log.recordsHeld).toBe(2);
    await a.submit({ kind: 'reset', source: sourceOf() });
    expect(log.recordsHeld).toBe(1);
    log.drop(b.id);
    expect(log.recordsHeld).toBe(0);
  });

  test('a state is restored only if there is room, and what it replaces makes room for it', async () => {
    const { world } = logFor({ maxRecords: 3 });
    const [a, b] = [world('a'), world('b')];
    for (const client_ref_id of ['1', '2']) await a.submit(initiate({ client_ref_id }));
    const two = save(await a.read((state) => state));
    const restore = (to: typeof a) =>
      to.submit({ kind: 'restore', state: load(two), clock: 'from-snapshot' });
    await expect(restore(b)).rejects.toMatchObject(FULL);
    expect(await b.read(({ payouts }) => payouts)).toEqual([]);
    await restore(a);
    await b.submit(initiate());
    await restore(a);
    await expect(restore(b)).rejects.toMatchObject(FULL);
  });

  test('a state that is being read takes room until it is put in place or given up', async () => {
    const { log, world } = logFor({ maxRecords: 3 });
    await world('a').submit(initiate());
    const draft = log.draft();
    draft.grow(1, 0);
    draft.grow(1, 0);
    expect(() => draft.grow(1, 0)).toThrow(expect.objectContaining({ code: 'SANDBOX_FULL' }));
    expect(await world('a').submit(initiate({ client_ref_id: 'b' }))).toMatchObject({
      answer: { refusal: FULL },
    });
    draft.end();
    draft.end();
    expect(await world('a').submit(initiate({ client_ref_id: 'b' }))).toMatchObject({ committed: true });
  });

  test('a state that was put in place or given up gives its room back once', () => {
    const { log } = logFor({ maxRecords: 3 });
    const draft = log.draft();
    draft.grow(2, 0);
    draft.end();
    draft.end();
    expect(() => log.draft().grow(4, 0)).toThrow(expect.objectContaining({ code: 'SANDBOX_FULL' }));
    log.draft().grow(3, 0);
  });
});

describe('scenarios and rules are counted over all worlds', () => {
  const FULL = { code: 'SANDBOX_FULL', message: expect.stringContaining('SANDBOX_SCENARIO_MEMORY') };
  const BODY = Array.from({ length: 100 }, () => ({}));
  const rule = (name: string) => ({
    kind: 'putRule' as const,
    rule: { name, effect: { respond: { status: 500, body: BODY } } },
  });
  const scenario = (isChosen: boolean) => ({
    kind: 'choose' as const,
    source: sourceOf({ rules: [rule('a').rule] }),
    isChosen,
  });
  const room = 40_000; // for one such document, and not for two

  test('a rule beyond the bound is refused, and room is free again when one is removed, replaced or dropped', async () => {
    const { log, world } = logFor({ maxDocumentBytes: room });
    const [a, b] = [world('a'), world('b')];
    await a.submit(rule('one'));
    await a.submit(rule('one'));
    await expect(a.submit(rule('two'))).rejects.toMatchObject(FULL);
    await expect(b.submit(rule('one'))).rejects.toMatchObject(FULL);
    await a.submit({ kind: 'removeRule', name: 'one' });
    await b.submit(rule('one'));
    log.drop(b.id);
    await a.submit(rule('two'));
  });

  test('a scenario that a world chooses counts, and that of the server does not', async () => {
    const { world } = logFor({ maxDocumentBytes: room });
    const [a, b] = [world('a'), world('b')];
    await a.submit(scenario(true));
    await a.submit(scenario(true));
    await expect(b.submit(scenario(true))).rejects.toMatchObject(FULL);
    await expect(b.submit(rule('one'))).rejects.toMatchObject(FULL);
    await b.submit(scenario(false));
    await a.submit({ kind: 'reset', source: sourceOf({}) });
    await b.submit(scenario(true));
  });

  test('a state that is restored, or read, counts with its scenario and its rules', async () => {
    const { log, world } = logFor({ maxDocumentBytes: room });
    const [a, b] = [world('a'), world('b')];
    await a.submit(rule('one'));
    const saved = save(await a.read((state) => state));
    const restore = { kind: 'restore' as const, state: load(saved), clock: 'from-snapshot' as const };
    await expect(b.submit(restore)).rejects.toMatchObject(FULL);
    const draft = log.draft();
    expect(() => draft.grow(0, room)).toThrow(expect.objectContaining(FULL));
    log.drop(a.id);
    draft.grow(0, room);
    await expect(b.submit(rule('one'))).rejects.toMatchObject(FULL);
    draft.end();
    await b.submit(restore);
    await expect(world('c').submit(rule('one'))).rejects.toMatchObject(FULL);
  });
});

describe('attempts are counted over all worlds', () => {
  const attempt = async (world: ReturnType<ReturnType<typeof logFor>['world']>, client_ref_id: string) =>
    (await world.submit(initiate({ client_ref_id }))).attempt;

  test('past the bound a world forgets its older ones, and no world counts without an end', async () => {
    const { world } = logFor({ maxAttempts: 100 });
    for (let nth = 0; nth < 200; nth += 1) {
      for (const name of ['a', 'b', 'c']) await attempt(world(name), `r${nth}`);
    }
    const held = ['a', 'b', 'c'].map((name) => {
      const { recent, older } = world(name).latest.attempts;
      return recent.size + older.size;
    });
    expect(held.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(100 + 3);
  });

  test('a drop and a reset give room back', async () => {
    const { log, world } = logFor({ maxAttempts: 2 });
    const [a, b] = [world('a'), world('b')];
    expect([await attempt(a, 'x'), await attempt(a, 'y')]).toEqual([1, 1]);
    await a.submit({ kind: 'reset', source: sourceOf() });
    expect([await attempt(b, 'x'), await attempt(b, 'y'), await attempt(b, 'x')]).toEqual([1, 1, 2]);
    log.drop(b.id);
    expect([await attempt(a, 'x'), await attempt(a, 'y'), await attempt(a, 'x')]).toEqual([1, 1, 2]);
  });

  test('a restore brings no more than there is room for', async () => {
    const { world } = logFor({ maxAttempts: 3 });
    const [a, b] = [world('a'), world('b')];
    for (const id of ['x', 'y']) await attempt(a, id);
    const two = save(await a.read((state) => state));
    const restore = (to: typeof a) =>
      to.submit({ kind: 'restore', state: load(two), clock: 'from-snapshot' });
    await restore(b);
    expect(b.latest.attempts.recent.size).toBe(0);
    expect(await attempt(b, 'x')).toBe(1);
    await restore(a); // in the place of its own
    expect(await attempt(a, 'x')).toBe(2);
  });
});

test('journals share one memory: past it the oldest request of all is dropped, and a dropped world gives its part back', async () => {
  const { log, world, journalBudget } = logFor({ journalBytes: 2500 });
  const [a, b] = [world('a'), world('b')];
  a.journal.begin(asked(), 0);
  b.journal.begin(asked(), 0);
  b.journal.begin(asked(), 0);
  expect(a.journal.read()).toEqual({ exchanges: [], evicted: 1 });
  expect(b.journal.read().exchanges.map(({ nth }) => nth)).toEqual([1, 2]);
  log.drop(b.id);
  expect(journalBudget.bytes).toBe(0);
  for (let nth = 0; nth < 12; nth += 1) world('c').journal.begin(asked({ url: '' }), 0);
  expect(world('c').journal.clear()).toBe(2);
});

test('a world keeps ten requests here, and drops those before them', async () => {
  const { journal } = logFor().world('a');
  for (let nth = 0; nth < 12; nth += 1) journal.begin(asked(), 0);
  expect(journal.read()).toMatchObject({ evicted: 2, exchanges: { length: 10 } });
});

test('worlds begin with the settings of the server', async () => {
  const { world } = logFor({ settings: { openingBalancePaise: 7 } });
  expect(await world('a').read(({ wallet }) => wallet.balancePaise)).toBe(7);
  expect(SETTINGS.openingBalancePaise).toBe(1000);
});

import { describe, expect, test } from 'vitest';
import { sourceOf, DAY_MS, balance, initiate, load, logFor, readerOf, save } from '../support/world/core.ts';
import type { World } from '../../src/worlds/world.ts';
import type { Command } from '../../src/world/commands.ts';

/** Submits a command. A refusal rejects the promise, even where it is known at once. */
const submit = async (world: World, command: Command) => world.submit(command);
const FULL = { code: 'SANDBOX_FULL', details: { limit: 'SANDBOX_MAX_TRANSACTIONS' } };

describe('worlds', () => {
  test('are listed in pages, which leave out none that was used in the same millisecond', async () => {
    const { log, world, wallClock } = logFor();
    const ids = ['a', 'b', 'c', 'd'].map((name) => world(name).id);
    await wallClock.pass(1);
    ids.push(world('e').id);
    const pages: string[][] = [];
    for (let after: number | null = 0; after !== null;) {
      const { worlds, next } = await log.page(after, 2);
      pages.push(worlds.map(({ id }) => id));
      after = next;
    }
    expect(pages).toEqual([ids.slice(0, 4), ids.slice(4)]);
  });

  test('make room for a new one: first those without payouts, however lately they were used, then the idlest', async () => {
    const { log, world, drops } = logFor({ maxWorlds: 3 });
    const [alsoPaid, paid] = [world('b'), world('a')];
    for (const one of [paid, alsoPaid]) await one.submit(initiate());
    world('b'); // which is the latest use of the two
    for (const name of ['c', 'd', 'e']) await world(name).submit(balance());
    expect(drops.map(([id, why]) => [id === paid.id || id === alsoPaid.id, why])).toEqual([
      [false, 'cap'],
      [false, 'cap'],
    ]);
    await world('e').submit(initiate());
    world('f');
    expect([drops[2], log.size, world('b')]).toEqual([[paid.id, 'cap'], 3, alsoPaid]);
    expect(await world('a').read(({ payouts }) => payouts)).toEqual([]);
  });

  test('make room by dropping one with payouts before one that a request is on its way to', () => {
    const { world } = logFor({ maxWorlds: 2 });
    const [paid, asked] = [world('a'), world('b')];
    void paid.submit(initiate());
    asked.enter();
    world('c');
    expect([paid.closed !== null, asked.closed !== null]).toEqual([true, false]);
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

  test('are dropped by an operator once, with their delayed responses and readers; the next use opens a new one, and a drop counts as a use', async () => {
    const { log, world, drops } = logFor();
    const a = world('a');
    const ended: string[] = [];
    a.connections.wait((how) => ended.push(how));
    const { ends } = await readerOf(a);
    expect([await log.drop(a.id), await log.drop(a.id), log.uses]).toEqual([true, false, 2]);
    expect([drops, a.closed !== null]).toEqual([[[a.id, 'admin']], true]);
    a.connections.wait((how) => ended.push(how)); // too late
    expect([ended, ends()]).toEqual([['ended', 'ended'], 1]);
    expect(world('a')).not.toBe(a);
  });

  test('all end with the sandbox: no timer is left, and no world can be opened', async () => {
    const { log, world, wallClock, drops } = logFor({ settings: { settlement: 'demo' } });
    const a = world('a');
    await a.submit(initiate());
    const ended: string[] = [];
    a.connections.wait((how) => ended.push(how));
    await a.watch(undefined, { take: () => undefined, end: () => ended.push('reader') });
    log.release();
    expect([ended, a.closed !== null]).toEqual([['ended', 'reader'], false]);
    await log.close();
    await log.close();
    expect([log.size, wallClock.timers, a.closed !== null, drops]).toEqual([0, 0, true, []]);
    await expect(log.use(a.id)).rejects.toThrow('the sandbox is closed');
    await expect(submit(a, balance())).rejects.toMatchObject({
      code: 'SANDBOX_FULL',
      details: { limit: 'stop' },
    });
  });
});

describe('transactions are counted over all worlds', () => {
  test('by payouts, credits, debits and kept refusals', async () => {
    const { log, world } = logFor({ document: { dialect: { client_ref_id: { same_body: 'stored' } } } });
    const a = world('a');
    await a.submit(initiate());
    await a.submit(initiate());
    await world('b').submit(initiate({ amount: 99 }));
    await a.submit({ kind: 'credit', amountPaise: 5 });
    await a.submit({ kind: 'debit', amountPaise: 5 });
    expect(log.transactions).toBe(4);
    for (const to of ['SUCCESS', 'REVERSED'] as const)
      // whose refund is counted with it
      await a.submit({ kind: 'transition', txnId: await a.read(({ payouts }) => payouts[0]!.txnId), to });
    expect(log.transactions).toBe(4);
  });

  test('a drop, a reset and a restore give room back', async () => {
    const { log, world } = logFor({ maxTransactions: 3 });
    const [a, b] = [world('a'), world('b')];
    await a.submit(initiate());
    const one = save(await a.read((state) => state));
    await a.submit(initiate({ client_ref_id: 'next' }));
    await b.submit(initiate());
    await a.submit({ kind: 'restore', state: load(one), clock: 'from-snapshot' });
    expect(log.transactions).toBe(2);
    await a.submit({ kind: 'reset', source: sourceOf() });
    expect(log.transactions).toBe(1);
    await log.drop(b.id);
    expect(log.transactions).toBe(0);
  });

  test('a state is restored only if there is room, and what it replaces makes room for it', async () => {
    const { world } = logFor({ maxTransactions: 3 });
    const [a, b] = [world('a'), world('b')];
    for (const client_ref_id of ['1', '2']) await a.submit(initiate({ client_ref_id }));
    const two = save(await a.read((state) => state));
    const restore = (to: typeof a) =>
      submit(to, { kind: 'restore', state: load(two), clock: 'from-snapshot' });
    let ended = 0;
    b.connections.wait(() => (ended += 1));
    await expect(restore(b)).rejects.toMatchObject(FULL);
    expect([ended, b.latest.generation, b.latest.payouts]).toEqual([0, 1, []]);
    await restore(a);
    await b.submit(initiate());
    await restore(a);
    await expect(restore(b)).rejects.toMatchObject(FULL);
  });
});

describe('scenarios and rules are counted over all worlds', () => {
  const FULL = { code: 'SANDBOX_FULL', message: expect.stringContaining('SANDBOX_MAX_RULES') };
  const rule = (name: string) => ({
    kind: 'putRule' as const,
    rule: { name, effect: { respond: { status: 500 } } },
  });
  const scenario = (isChosen: boolean) => ({
    kind: 'choose' as const,
    source: sourceOf({ rules: [rule('a').rule] }),
    isChosen,
  });

  test('a rule beyond the bound is refused, and room is free again when one is removed, replaced or dropped', async () => {
    const { log, world } = logFor({ maxRules: 1 });
    const [a, b] = [world('a'), world('b')];
    await a.submit(rule('one'));
    await a.submit(rule('one'));
    await expect(submit(a, rule('two'))).rejects.toMatchObject(FULL);
    await expect(submit(b, rule('one'))).rejects.toMatchObject(FULL);
    await a.submit({ kind: 'removeRule', name: 'one' });
    await b.submit(rule('one'));
    await log.drop(b.id);
    await a.submit(rule('two'));
  });

  test('a scenario that a world chooses counts, and that of the server does not', async () => {
    const { world } = logFor({ maxRules: 2 });
    const [a, b] = [world('a'), world('b')];
    await a.submit(scenario(true));
    await a.submit(scenario(true));
    await expect(submit(b, scenario(true))).rejects.toMatchObject(FULL);
    await expect(submit(b, rule('one'))).rejects.toMatchObject(FULL);
    await b.submit(scenario(false));
    await a.submit({ kind: 'reset', source: sourceOf({}) });
    await b.submit(scenario(true));
  });

  test('a state that is restored counts with its scenario and its rules', async () => {
    const { log, world } = logFor({ maxRules: 1 });
    const [a, b] = [world('a'), world('b')];
    await a.submit(rule('one'));
    const saved = save(await a.read((state) => state));
    const restore = { kind: 'restore' as const, state: load(saved), clock: 'from-snapshot' as const };
    await expect(submit(b, restore)).rejects.toMatchObject(FULL);
    await log.drop(a.id);
    await b.submit(restore);
    await expect(submit(world('c'), rule('one'))).rejects.toMatchObject(FULL);
  });
});

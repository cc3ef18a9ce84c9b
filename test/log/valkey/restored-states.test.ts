import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { keysOf } from '../../../src/log/valkey/scripts.ts';
import { writeState } from '../../../src/log/valkey/stored/stored-state.ts';
import { freeze } from '../../../src/world/copy.ts';
import type { WorldState } from '../../../src/world/state.ts';
import { freshStore, redisAt } from '../../support/store/fresh-store.ts';
import type { Client } from '../../support/sandbox.ts';
import { serversFor } from '../../support/store/shared-servers.ts';
import { basesOf, storedLogFor, WORLD } from '../../support/store/stored-log.ts';

describe('a world in a store that is restored', () => {
  test('again and again keeps a few states, and none that its log no longer needs', async () => {
    const { store, clients } = await serversFor(2);
    const [one, other] = clients() as [Client, Client];
    await one.pay({ amount: 10 });
    const snapshot = await one.world.snapshot();
    const { id } = await one.world.summary();
    const client = redisAt(store);
    const { restores, state } = keysOf(id);
    const stored = async () => (await client.keys(`${state('')}*`)).toSorted();
    const needed = async () => {
      const names = [...(await basesOf(store, id)).map(({ key }) => key), ...(await client.hkeys(restores))];
      return names
        .filter((name) => name !== '')
        .map(state)
        .toSorted();
    };
    for (let nth = 0; nth < 31; nth += 1) {
      await [one, other][nth % 2]!.world.restore(snapshot);
      for (const { balance } of [one, other]) expect((await balance()).body.data.balance).toBe(999_990);
      if (nth < 29) continue; // from then on each restore makes one needless
      await expect.poll(async () => isDeepStrictEqual(await stored(), await needed())).toBe(true);
    }
    expect((await stored()).length).toBeLessThanOrEqual(2 * 24);
  });

  test('keeps its stored states as long as its log', async () => {
    const url = await freshStore();
    const { log } = await storedLogFor(url, 'one');
    const world = await log.use(WORLD);
    const state = (await log.use('d'.repeat(32))).latest as WorldState;
    await world.submit({ kind: 'restore', state, clock: 'from-snapshot' });
    const client = redisAt(url);
    const keys = keysOf(WORLD);
    const stored = () => client.keys(`${keys.state('')}*`);
    await expect.poll(async () => (await stored()).length).toBe(2); // what was restored, and the state after it
    const soonMs = 3_600_000;
    const all = [...(await stored()), keys.log];
    for (const key of all) await client.pexpire(key, soonMs);
    await client.hset(keys.head, 'renewed', 0);
    await world.submit({ kind: 'credit', amountPaise: 1 });
    const soon = async () => {
      const left = all.map(async (key) => (await client.pttl(key)) <= soonMs);
      return (await Promise.all(left)).filter(Boolean).length;
    };
    await expect.poll(soon).toBe(0);
  });

  test('leaves no state behind when another server was quicker to keep one', async () => {
    const url = await freshStore();
    const { log, store } = await storedLogFor(url, 'one');
    const world = await log.use(WORLD);
    const state = (await log.use('d'.repeat(32))).latest as WorldState;
    const { connection } = store;
    const script = connection.script.bind(connection);
    const compacted = vi.spyOn(connection, 'script').mockImplementation(async (name, ...args) => {
      if (name === 'compact') return 0; // the list of states is another one by now
      return script(name, ...args);
    });
    await world.submit({ kind: 'restore', state, clock: 'from-snapshot' });
    await expect.poll(() => compacted.mock.calls.some(([name]) => name === 'compact')).toBe(true);
    const client = redisAt(url);
    const stored = () => client.keys(`${keysOf(WORLD).state('')}*`);
    await expect.poll(async () => (await stored()).length).toBe(1); // what was restored
  });

  test('leaves no key without an expiry when its server dies in the middle of it', async () => {
    const url = await freshStore();
    const { log, store } = await storedLogFor(url, 'one');
    const { latest } = await log.use(WORLD);
    const client = redisAt(url);
    const { connection } = store;
    const reliably = connection.reliably.bind(connection);
    const dead = new Promise<never>(() => undefined);
    await new Promise<void>((die) => {
      vi.spyOn(connection, 'reliably').mockImplementation(async (work) => {
        const reply = await reliably(work);
        if ((await client.exists('state')) === 0) return reply;
        die();
        return dead;
      });
      void writeState(connection, 'state', freeze(latest), 60_000);
    });
    expect(await client.pttl('state')).toBeGreaterThan(0);
  });

  test('reports no bug when its server stops before it has written a snapshot', async () => {
    const failed: unknown[] = [];
    const observer = { failed: (_worldId: string, error: unknown) => void failed.push(error) };
    const { log, store } = await storedLogFor(await freshStore(), 'one', { observer });
    const world = await log.use(WORLD);
    const state = (await log.use('d'.repeat(32))).latest as WorldState;
    const { connection } = store;
    const script = connection.script.bind(connection);
    vi.spyOn(connection, 'script').mockImplementation(async (name, ...args) => {
      if (name === 'compact') await log.close();
      return script(name, ...args);
    });
    await world.submit({ kind: 'restore', state, clock: 'from-snapshot' });
    await expect.poll(() => world.isClosed && world.isIdle).toBe(true);
    expect(failed).toEqual([]);
  });
});

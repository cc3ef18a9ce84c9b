import { describe, expect, test, vi } from 'vitest';
import { keysOf, LIST_KEYS } from '../../../src/log/valkey/scripts.ts';
import { readUnlessDropped } from '../../../src/log/dropped.ts';
import type { Worlds } from '../../../src/log/worlds.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { freshStore, redisAt } from '../../support/store/fresh-store.ts';
import { ManualClock } from '../../support/world/manual-clock.ts';
import { storedLogFor, WORLD } from '../../support/store/stored-log.ts';

const balanceOf = (log: Worlds): Promise<number | null> =>
  log.visit(WORLD, (world) => readUnlessDropped(world, ({ wallet }) => wallet.balancePaise));

/** Makes it so long since a world was used, as the store knows, that it is idle. Its servers must have written down its uses. */
async function makeIdle(url: string, worldId = WORLD): Promise<void> {
  const client = redisAt(url);
  await client.hset(keysOf(worldId).head, 'used', 0);
  await client.zadd(LIST_KEYS[0], 1, worldId); // at 0, no page would list it any more, though it is there
}

describe('a world of a store that was idle for too long', () => {
  test('is dropped once, by one of the servers', async () => {
    const url = await freshStore();
    const ended: string[] = [];
    const servers = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        storedLogFor(url, name, {
          idleMs: 250,
          evictions: { before: () => async () => void ended.push(name) },
        }),
      ),
    );
    await servers[0]!.log.use(WORLD);
    await expect.poll(() => servers[1]!.log.ids()).toEqual([]);
    expect(await balanceOf(servers[2]!.log)).toBeNull();
    await expect.poll(() => ended).toHaveLength(1); // the others may know of it before the one that did it
  });

  test('is kept if it is used just before it would be dropped', async () => {
    const url = await freshStore();
    const wallClock = new ManualClock(systemClock().nowMs()); // it ends no world itself
    const { log: other } = await storedLogFor(url, 'other', { wallClock });
    const drops: boolean[] = [];
    const { log, store } = await storedLogFor(url, 'one');
    const drop = store.drop.bind(store);
    vi.spyOn(store, 'drop').mockImplementation(async (...args) => {
      if (drops.length === 0) await (await other.use(WORLD)).submit({ kind: 'credit', amountPaise: 500 });
      await other.ids(); // writes down its use
      const isDropped = await drop(...args);
      drops.push(isDropped);
      return isDropped;
    });
    await log.use(WORLD);
    for (const [balance, ended] of [
      [1500, [false]],
      [null, [false, true]],
    ] as const) {
      for (const server of [log, other]) await server.ids(); // writes down the uses so far
      await makeIdle(url);
      await expect.poll(() => drops).toEqual(ended);
      expect(await balanceOf(other)).toBe(balance);
    }
  });
});

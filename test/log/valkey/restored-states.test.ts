import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { keysOf } from '../../../src/log/valkey/scripts.ts';
import { writeState } from '../../../src/log/valkey/stored/stored-state.ts';
import { freeze } from '../../../src/world/copy.ts';
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
});

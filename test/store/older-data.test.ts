import { describe, expect, test } from 'vitest';
import { ask } from '../support/control.ts';
import { redisAt } from '../support/store/fresh-store.ts';
import type { Client } from '../support/sandbox.ts';
import { serversFor } from '../support/store/shared-servers.ts';
import { balanceAt, credit, storedLogsFor, WORLD } from '../support/store/stored-log.ts';
import { readerOf } from '../support/world/core.ts';

/** Remembers all that a store has. @returns a function that puts it back, as a restart with older data does */
async function saved(url: string): Promise<() => Promise<unknown>> {
  const store = redisAt(url);
  const values = await Promise.all(
    (await store.keys('*')).map(async (key) => ({
      key,
      value: await store.dumpBuffer(key),
      keptMs: Math.max(0, await store.pttl(key)),
    })),
  );
  return () => {
    const changes = store.multi().flushdb();
    for (const { key, value, keptMs } of values) changes.restore(key, keptMs, value);
    return changes.exec();
  };
}

describe('a store that comes back with older data', () => {
  test('has what it had then at all servers, and says that something is lost', async () => {
    const { url, one, other, ofOne, ofOther } = await storedLogsFor();
    await credit(one, WORLD, 1);
    const goBack = await saved(url);
    for (const log of [one, other, one]) await credit(log, WORLD, 10);
    expect(await balanceAt(other)).toBe(1031);
    await goBack();
    for (const log of [one, other]) await credit(log, WORLD, 100);
    expect([await balanceAt(one), await balanceAt(other)]).toEqual([1201, 1201]);
    expect([ofOne.lost, ofOther.lost]).toEqual([[WORLD], [WORLD]]);
  });

  test('begins a new life of its worlds: readers and delayed responses of before end, and an id of before is missed', async () => {
    const { url, one, other } = await storedLogsFor();
    await credit(one, WORLD, 1);
    const goBack = await saved(url);
    const before = await readerOf(await other.use(WORLD));
    await credit(one, WORLD, 10);
    await expect.poll(() => before.read.length).toBe(1);
    const { connections } = await other.use(WORLD);
    const isReleased = new Promise((resolve) => connections.wait(resolve));
    await goBack();
    await credit(one, WORLD, 100); // as many commands as the store has lost
    await isReleased;
    await expect.poll(() => before.ends()).toBe(1);
    const { read } = await readerOf(await other.use(WORLD), before.read[0]!.id);
    expect(read.map(({ type }) => type)).toEqual(['missed', 'wallet', 'wallet']);
    expect(read.slice(1).map(({ data }) => (JSON.parse(data) as { balance: number }).balance)).toEqual([
      10.01, 11.01,
    ]);
    const now = await readerOf(await other.use(WORLD));
    await credit(one, WORLD, 1);
    await expect.poll(() => now.read.map(({ type }) => type)).toEqual(['wallet']);
  });

  test.each([
    ['is said in each response of such a world, and in its verdict, until it is reset', 'a request'],
    ['is said there, too, where a look at the list of worlds has found it', 'a look'],
  ])('%s', async (_what, finds) => {
    const { clients, servers, store } = await serversFor(2);
    const [one, other] = clients() as [Client, Client];
    await one.world.reset(); // as in a test that begins with one
    await one.pay();
    const goBack = await saved(store);
    await one.pay({ client_ref_id: 'lost' });
    await other.balance();
    await goBack();
    if (finds === 'a look') for (const server of servers) await server.worlds();
    for (const client of [one, other]) {
      const { body, headers } = await client.balance();
      expect(body.data.balance).toBe(998_499.5);
      const told = headers.get('x-sandbox-world-dropped');
      expect(told).toMatch(/^at 20\S+Z, in whole or in part: SANDBOX_STORE$/);
      const [check] = (await client.world.referee()).checks;
      const reason = `this world was dropped ${told}; reset it to start a new verdict`;
      expect(check).toMatchObject({ verdict: 'inconclusive', reason });
    }
    await one.world.reset();
    for (const client of [other, one])
      expect((await client.balance()).headers.get('x-sandbox-world-dropped')).toBeNull();
  });

  test('leaves no server deaf for what happens from then on', async () => {
    const { clients, store } = await serversFor(2, {
      clock: '2026-01-15T10:30:00.000Z',
      settlement: 'realistic',
    });
    const [one, other] = clients() as [Client, Client];
    await one.pay();
    const goBack = await saved(store);
    for (let nth = 0; nth < 20; nth += 1) await one.pay({ client_ref_id: `lost-${nth}` });
    await other.world.summary();
    await goBack();
    await one.world.rule({ match: { client_ref_id: 'held' }, effect: { hold: 'arrived' } });
    const paying = one.pay({ client_ref_id: 'held' });
    const [held] = await other.world.held(1);
    await held!.release();
    expect((await paying).status).toBe(200);
    const { changes } = (await ask(one, 'POST', '/clock/advance', { by: '1h' })).body;
    expect(changes).toHaveLength(2);
  });
});

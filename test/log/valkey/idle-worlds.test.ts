import { describe, expect, inject, test } from 'vitest';
import { readUnlessDropped } from '../../../src/log/world-log.ts';
import type { ValkeyLog } from '../../../src/log/valkey/valkey-log.ts';
import { freshStore } from '../../support/fresh-store.ts';
import { serversFor } from '../../support/shared-servers.ts';
import { storedLogFor } from '../../support/stored-log.ts';

const ADMIN = 'the-token-of-the-admin';
const WORLD = 'c'.repeat(32);

const balanceOf = (log: ValkeyLog): Promise<number | null> =>
  log.visit(WORLD, (world) => readUnlessDropped(world, ({ wallet }) => wallet.balancePaise));

describe.skipIf(inject('storeUrl') === '')('a world of a store that was idle for too long', () => {
  test('ends once, at one of the servers', async () => {
    const url = await freshStore();
    const ended: string[] = [];
    const servers = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        storedLogFor(url, name, {
          idleMs: 1000,
          losing: async (_worldId, drop) => void ((await drop()) && ended.push(name)),
        }),
      ),
    );
    await servers[0]!.log.use(WORLD);
    await expect.poll(() => servers[1]!.log.ids()).toEqual([]);
    expect(await balanceOf(servers[2]!.log)).toBeNull();
    await expect.poll(() => ended).toHaveLength(1); // the others may know of it before the one that did it
  });

  test('goes on when somebody uses it just before it ends', async () => {
    const url = await freshStore();
    const { log: other } = await storedLogFor(url, 'other');
    const balances: (number | null)[] = [];
    const losing = async (_worldId: string, drop: () => Promise<boolean>): Promise<void> => {
      balances.push(await balanceOf(other));
      if (balances.length === 1) await (await other.use(WORLD)).submit({ kind: 'credit', amountPaise: 500 });
      await drop();
    };
    const { log } = await storedLogFor(url, 'one', { idleMs: 1000, losing });
    await log.use(WORLD);
    await expect.poll(() => balanceOf(other)).toBeNull();
    expect(balances).toEqual([1000, 1500]);
  });

  test('keeps its verdict, which all servers know', async () => {
    const { servers, clients } = await serversFor(2, { worldIdle: '1s', adminToken: ADMIN });
    const [one, other] = clients();
    const ofAll = async (client: typeof one, method: 'GET' | 'PUT') => {
      const headers = { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' };
      const body = method === 'PUT' ? { body: '{}' } : {};
      return (await client!.send(method, '/_sandbox/worlds/referee', { headers, ...body })).body;
    };
    await ofAll(one, 'PUT');
    await one!.pay({ amount: 0.001 });
    await one!.pay(); // its settlement is due when the world ends
    await expect.poll(() => servers[0]!.worlds()).toEqual([]);
    const before = await ofAll(one, 'GET');
    expect(before).toMatchObject({ passed: false, worlds: [{ counts: { error: 1 } }] });
    expect(await ofAll(other, 'GET')).toEqual(before);
  });
});

import { describe, expect, test } from 'vitest';
import { FORMAT, keysOf } from '../../src/store/scripts.ts';
import type { Client } from '../support/sandbox.ts';
import { redisAt } from '../support/store/fresh-store.ts';
import { serversFor } from '../support/store/shared-servers.ts';

describe('the format of a log', () => {
  test('of a newer version is left alone: responses and a metric say so, and the server stays ready for the others', async () => {
    const { store, clients } = await serversFor(2, { metrics: 'on' });
    const [one, other] = clients() as [Client, Client];
    await one.pay({ amount: 10 });
    const client = redisAt(store);
    const { head, log } = keysOf((await one.world.summary()).id);
    await client.hset(head, 'format', FORMAT + 1);
    const length = await client.xlen(log);
    for (const { pay } of [one, other]) {
      expect(await pay({ client_ref_id: 'later' })).toMatchObject({
        status: 503,
        body: { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('update this server') },
      });
    }
    expect(await client.xlen(log)).toBe(length);
    const get = async (path: string) => fetch(`${one.url}/_sandbox/${path}`);
    const newerWorlds = async () =>
      /^payout_sandbox_store_newer_worlds \d+$/m.exec(await (await get('metrics')).text())![0];
    expect((await get('health')).status).toBe(200);
    expect(await newerWorlds()).toBe('payout_sandbox_store_newer_worlds 1');
    await client.hset(head, 'format', FORMAT);
    await expect.poll(newerWorlds).toBe('payout_sandbox_store_newer_worlds 0');
    expect((await other.balance()).body.data.balance).toBe(999_990);
  });
});

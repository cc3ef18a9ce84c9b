import { readFileSync } from 'node:fs';
import { Redis } from 'iovalkey';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { FORMAT, keysOf } from '../../../src/log/valkey/scripts/scripts.ts';
import type { Client } from '../../support/sandbox.ts';
import { freshStore } from '../../support/fresh-store.ts';
import { serversFor } from '../../support/shared-servers.ts';

/** A world as an earlier version left it: its keys, and what the control API said of it. */
interface Golden {
  readonly key: string;
  readonly worldId: string;
  readonly head: Readonly<Record<string, string>>;
  readonly log: readonly (readonly [id: string, fields: readonly string[]])[];
  readonly summary: object;
  readonly transactions: readonly object[];
}

const golden = (format: number): Golden =>
  JSON.parse(readFileSync(new URL(`format-${format}.json`, import.meta.url), 'utf8')) as Golden;

function storeClient(url: string): Redis {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  return client;
}

describe.skipIf(inject('storeUrl') === '')('the format of a log', () => {
  test.each(Array.from({ length: FORMAT }, (_, nth) => [nth + 1]))(
    '%i is read: a world that an earlier version wrote continues as it was',
    async (format) => {
      const { key, worldId, head, log, summary, transactions } = golden(format);
      const store = await freshStore();
      const client = storeClient(store);
      const keys = keysOf(worldId);
      await client.hset(keys.head, head);
      for (const [id, fields] of log) await client.xadd(keys.log, id, ...fields);
      const [world] = (await serversFor(1, { store })).clients(key) as [Client];
      expect(await world.world.summary()).toEqual(summary);
      expect(await world.world.transactions()).toEqual(transactions);
      expect((await world.pay({ client_ref_id: 'one more' })).status).toBe(200);
    },
  );

  test('of a newer version is left alone: answers say so, and the server is not ready until that format is gone', async () => {
    const { store, clients } = await serversFor(2);
    const [one, other] = clients() as [Client, Client];
    await one.pay({ amount: 10 });
    const client = storeClient(store);
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
    const health = async () => (await fetch(`${one.url}/_sandbox/health`)).status;
    expect(await health()).toBe(503);
    await client.hset(head, 'format', FORMAT);
    await expect.poll(health).toBe(200);
    expect((await other.balance()).body.data.balance).toBe(999_990);
  });
});

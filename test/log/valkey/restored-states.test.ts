import { Redis } from 'iovalkey';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { keysOf } from '../../../src/log/valkey/scripts/scripts.ts';
import type { Client } from '../../support/sandbox.ts';
import { serversFor } from '../../support/shared-servers.ts';

describe.skipIf(inject('storeUrl') === '')('a world in a store that is restored', () => {
  test('again and again leaves one snapshot behind, and what others still have to read for a minute', async () => {
    const { store, clients } = await serversFor(2);
    const [one, other] = clients() as [Client, Client];
    await one.pay({ amount: 10 });
    const snapshot = await one.world.snapshot();
    const { id } = await one.world.summary();
    const client = new Redis(store);
    onTestFinished(() => client.disconnect());
    const keptForLong = async (): Promise<readonly string[]> => {
      const keys = await client.keys(`${keysOf(id).snapshot}*`);
      const ttls = await Promise.all(keys.map((key) => client.pttl(key)));
      return keys.filter((_key, nth) => ttls[nth]! > 60_000);
    };
    for (const world of [one, other, one]) {
      await world.world.restore(snapshot);
      await expect.poll(keptForLong).toEqual([keysOf(id).snapshot]);
      for (const { balance } of [one, other]) expect((await balance()).body.data.balance).toBe(999_990);
    }
  });
});

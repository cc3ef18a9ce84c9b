import { Redis } from 'iovalkey';
import { describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { keysOf } from '../../../src/log/valkey/scripts/scripts.ts';
import { writeState } from '../../../src/log/valkey/stored/stored-snapshot.ts';
import { takeSnapshot } from '../../../src/world/snapshot.ts';
import { freshStore } from '../../support/fresh-store.ts';
import type { Client } from '../../support/sandbox.ts';
import { serversFor } from '../../support/shared-servers.ts';
import { storedLogFor } from '../../support/stored-log.ts';

const WORLD = 'c'.repeat(32);

describe.skipIf(inject('storeUrl') === '')('a world in a store that is restored', () => {
  test('again and again leaves one snapshot, and for a minute the states that other servers may still have to read', async () => {
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

  test('leaves no key without an expiry when its server dies in the middle of it', async () => {
    const url = await freshStore();
    const { log } = await storedLogFor(url, 'one');
    const { latest } = await log.use(WORLD);
    const client = new Redis(url);
    onTestFinished(() => client.disconnect());
    const { store } = log;
    const reliably = store.reliably.bind(store);
    const dead = new Promise<never>(() => undefined);
    await new Promise<void>((die) => {
      vi.spyOn(store, 'reliably').mockImplementation(async (work) => {
        const reply = await reliably(work);
        if ((await client.exists('state')) === 0) return reply;
        die();
        return dead;
      });
      const head = { position: 1, name: '', epoch: '', generation: 1, held: latest.held };
      void writeState(store, 'state', head, takeSnapshot(latest), 60_000);
    });
    expect(await client.pttl('state')).toBeGreaterThan(0);
  });

  test('reports no bug when its server stops before it has written a snapshot', async () => {
    const failed: unknown[] = [];
    const observer = {
      settled: () => undefined,
      failed: (_worldId: string, error: unknown) => void failed.push(error),
      dropped: () => undefined,
    };
    const { log } = await storedLogFor(await freshStore(), 'one', { observer });
    const world = await log.use(WORLD);
    const { latest: state } = await log.use('d'.repeat(32));
    const { store } = log;
    const script = store.script.bind(store);
    vi.spyOn(store, 'script').mockImplementation(async (name, ...args) => {
      if (name === 'compact') await log.close();
      return script(name, ...args);
    });
    await world.submit({ kind: 'restore', state, clock: 'from-snapshot' });
    await expect.poll(() => world.isClosed && world.isIdle).toBe(true);
    expect(failed).toEqual([]);
  });
});

import { Redis } from 'iovalkey';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import type { ValkeyLog } from '../../../src/log/valkey/valkey-log.ts';
import { freshStore } from '../../support/fresh-store.ts';
import { storedLogFor } from '../../support/stored-log.ts';
import { sized } from '../../support/size.ts';

const DROPPED = 'd'.repeat(32);
const LIVE = 'e'.repeat(32);

const credit = async (log: ValkeyLog, worldId: string): Promise<void> =>
  void (await (await log.use(worldId)).submit({ kind: 'credit', amountPaise: 500 }));

/** Two servers that both know one world, which takes all the room, and have nothing more to write down of it. */
async function twoServers() {
  const url = await freshStore();
  const store = new Redis(url);
  onTestFinished(() => store.disconnect());
  const { log: one } = await storedLogFor(url, 'one', { maxRecords: 3 });
  const { log: other } = await storedLogFor(url, 'other', { maxRecords: 3 });
  for (const log of [one, other, one]) await credit(log, DROPPED);
  const world = await other.use(DROPPED);
  await expect(credit(other, LIVE)).rejects.toMatchObject({ code: 'SANDBOX_FULL' });
  for (const log of [one, other, one, other]) await log.ids();
  return { store, one, other, world };
}

describe.skipIf(inject('storeUrl') === '')('a world that one server drops and another has just used', () => {
  test('does not come back to the list, where another world would be dropped in its place', async () => {
    const url = await freshStore();
    const { log: one } = await storedLogFor(url, 'one', { maxWorlds: 2 });
    const { log: other } = await storedLogFor(url, 'other', { maxWorlds: 2 });
    await (await other.use(LIVE)).submit({ kind: 'credit', amountPaise: 500 });
    await other.use(DROPPED);
    await one.drop(DROPPED);
    expect(await other.ids()).toEqual([LIVE]);
    await one.use('f'.repeat(32));
    expect((await one.use(LIVE)).latest.wallet.balancePaise).toBe(1500);
  });

  test('is off the list even if it was dropped while the other server wrote down how it stands', async () => {
    const url = await freshStore();
    const { log: one } = await storedLogFor(url, 'one');
    const { log: other } = await storedLogFor(url, 'other');
    for (let nth = 0; nth < sized(30, 300); nth += 1) {
      await other.use(DROPPED);
      await Promise.all([other.ids(), one.drop(DROPPED)]);
      expect(await other.ids()).toEqual([]);
    }
  });

  test('may be opened again by the one, and is listed as it is now by the other', async () => {
    const url = await freshStore();
    const { log: one } = await storedLogFor(url, 'one');
    const { log: other } = await storedLogFor(url, 'other');
    await (await other.use(DROPPED)).submit({ kind: 'credit', amountPaise: 500 });
    await one.drop(DROPPED);
    await one.use(DROPPED);
    expect(await other.rows(await other.ids())).toMatchObject([{ id: DROPPED, balancePaise: 1000 }]);
  });
});

describe.skipIf(inject('storeUrl') === '')(
  'a world that is gone, at a server that has not used it since',
  () => {
    test('leaves its room to other worlds at every server', async () => {
      const { one, other } = await twoServers();
      await one.drop(DROPPED);
      for (const log of [one, other])
        await expect.poll(() => credit(log, LIVE).then(() => 'taken', String)).toBe('taken');
    });

    test('ends its delayed answers and its readers of events, and leaves its room, when the store has lost it', async () => {
      const { store, one, other, world } = await twoServers();
      const ended: string[] = [];
      world.delayed.hold(() => ended.push('answer'));
      await world.watch(undefined, { take: () => undefined, end: () => ended.push('reader') });
      await store.flushdb();
      await expect.poll(() => ended).toEqual(['answer', 'reader']);
      await expect.poll(() => [one.recordsHeld, other.recordsHeld]).toEqual([0, 0]);
    });

    test('is listed again if it is there after all', async () => {
      const { store, other } = await twoServers();
      await store.del('payout-sandbox:2:worlds', 'payout-sandbox:2:held');
      await expect.poll(() => other.ids()).toEqual([DROPPED, LIVE]);
    });
  },
);

import { describe, expect, inject, test } from 'vitest';
import { freshStore } from '../../support/fresh-store.ts';
import { storedLogFor } from '../../support/stored-log.ts';
import { sized } from '../../support/size.ts';

const DROPPED = 'd'.repeat(32);
const LIVE = 'e'.repeat(32);

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

import { expect, test, vi } from 'vitest';
import { balance, initiate, sourceOf } from '../../support/world/core.ts';
import { freshStore } from '../../support/store/fresh-store.ts';
import { basesOf, storedLogFor, WORLD } from '../../support/store/stored-log.ts';

const PAYOUTS = 3200;
const AT_ONCE = 200;

test('the state of a world in which nothing but payouts happened, behind a held request, is stored, also when its server stops, so that another server need not make them all again', async () => {
  const url = await freshStore();
  const held = { name: 'held', match: { route: 'balance' as const }, effect: { hold: 'arrived' as const } };
  const source = sourceOf({ wallet: { opening_balance: 1000 }, rules: [held] });
  const options = { maxRecords: PAYOUTS, activeSource: () => source };
  const { log } = await storedLogFor(url, 'one', options);
  const world = await log.use(WORLD);
  await world.submit(balance());
  for (let from = 0; from < PAYOUTS; from += AT_ONCE) {
    const payouts = Array.from({ length: AT_ONCE }, (_, nth) =>
      initiate({ client_ref_id: `order-${from + nth}`, amount: 0.01 }),
    );
    await Promise.all(payouts.map(async (payout) => world.submit(payout)));
  }
  const payoutsOfStates = async () => (await basesOf(url)).map(({ payouts }) => payouts);
  await expect.poll(payoutsOfStates).toEqual([0, expect.toSatisfy((count) => count >= 1999)]);
  const { log: other } = await storedLogFor(url, 'other', options);
  const sizes = await (
    await other.use(WORLD)
  ).read(({ payouts, held }) => [payouts.length, held.waiting.length]);
  expect(sizes).toEqual([PAYOUTS, 1]);
  await log.close();
  expect((await payoutsOfStates()).at(-1)).toBe(PAYOUTS);
});

test('a state is still there for the next server when the reply to storing it was lost, and it was stored again', async () => {
  const url = await freshStore();
  const { log, store } = await storedLogFor(url, 'one');
  const world = await log.use(WORLD);
  const { connection } = store;
  const script = connection.script.bind(connection);
  const calls = vi.spyOn(connection, 'script').mockImplementation(async (name, ...args) => {
    const reply = await script(name, ...args);
    const isFirst = calls.mock.calls.filter(([called]) => called === 'compact').length === 1;
    if (name === 'compact' && isFirst) throw new Error('the connection broke');
    return reply;
  });
  await Promise.all(Array.from({ length: 1000 }, async () => world.submit({ kind: 'settle' })));
  await world.flush();
  expect(calls.mock.calls.filter(([name]) => name === 'compact')).toHaveLength(2);
  const { log: other } = await storedLogFor(url, 'other');
  expect(await (await other.use(WORLD)).read(({ wallet }) => wallet.balancePaise)).toBe(1000);
});

test('a state that could not be stored is stored next time', async () => {
  const url = await freshStore();
  const { log, store } = await storedLogFor(url, 'one');
  const world = await log.use(WORLD);
  const submitMany = () =>
    Promise.all(Array.from({ length: 1000 }, async () => world.submit({ kind: 'settle' })));
  const refused = Object.assign(new Error('no'), { name: 'ReplyError' });
  await submitMany();
  vi.spyOn(store.connection.client, 'hmget').mockRejectedValueOnce(refused);
  await expect(world.flush()).rejects.toThrow('no');
  await submitMany();
  await world.flush();
  expect((await basesOf(url)).map(({ position }) => position)).toEqual([0, 2000]);
});

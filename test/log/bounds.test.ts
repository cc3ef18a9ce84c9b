import { expect, test, vi } from 'vitest';
import type { Store } from '../../src/log/store.ts';
import type { World } from '../../src/log/world.ts';
import { balance, initiate, load, logFor, save, sourceOf } from '../support/world/core.ts';

test('a world that is restored again and again keeps few of its earlier states', async () => {
  const { world, store } = logFor();
  const a = world('a');
  const saved = save(await a.read((state) => state));
  for (let nth = 0; nth < 200; nth += 1) {
    await a.submit({ kind: 'restore', state: load(saved), clock: 'from-snapshot' });
  }
  const bases = new Set(
    Array.from({ length: 200 }, (_, position) => store.history(a.id, a.epoch, position)?.base.position),
  );
  expect(bases.size).toBeLessThan(30);
});

const ROOM = 100_000;
/** Sends some requests: each has 1,001 characters in the list of requests, and as many in the past of its world. */
async function ask(world: World, requests: number): Promise<void> {
  for (let nth = 0; nth < requests; nth += 1) await world.submit(balance());
}

test.each([
  ['restored', 7, ['restore']],
  ['restored and reset', 6, ['restore', 'reset']],
] as const)(
  'a world that is %s counts all payouts that it can go back to, and no others',
  async (_how, times, kinds) => {
    const full = logFor().world('full');
    for (let nth = 0; nth < 100; nth += 1) {
      await full.submit(initiate({ client_ref_id: `p${nth}`, amount: 0.01 }));
    }
    const saved = save(await full.read((state) => state));
    /** How often a new world is replaced until its past takes too much. */
    const timesUntilForgotten = async (maxCharacters: number, most: number): Promise<number> => {
      const { world, store } = logFor({ maxCharacters });
      const a = world('a');
      for (let nth = 1; nth <= most; nth += 1) {
        for (const kind of kinds) {
          if (kind === 'reset') await a.submit({ kind, source: sourceOf() });
          else await a.submit({ kind, state: load(saved), clock: 'from-snapshot' });
          if (store.history(a.id, a.epoch, a.position - 1) === null) return nth;
        }
      }
      return Infinity;
    };
    expect(await timesUntilForgotten(280_000, 10)).toBe(times); // 500 for each payout, 1,000 for each command
    expect(await timesUntilForgotten(2_000_000, 100)).toBe(Infinity);
  },
);

/** Which of some worlds know what they were before their newest command, and how many requests each remembers. */
const kept = (store: Store, worlds: readonly World[]) =>
  worlds.map(({ id, epoch, position, latest }) => [
    store.history(id, epoch, position - 1) !== null,
    latest.requests.list.length,
  ]);

test('when all worlds together remember too much, the ones that were idle longest lose their past first', async () => {
  const { world, store } = logFor({ maxCharacters: ROOM, maxRequests: 1000 });
  const [a, b, c] = [world('a'), world('b'), world('c')];
  await ask(a, 30);
  await ask(b, 30);
  await ask(c, 20);
  expect(kept(store, [a, b, c])).toEqual([
    [true, 6],
    [true, 6],
    [true, 6],
  ]);
  await ask(c, 10);
  expect(kept(store, [a, b, c])).toEqual([
    [false, 6],
    [true, 6],
    [true, 6],
  ]);
});

test('once all worlds together remember too much, a request does not go through all of them again', async () => {
  const { world, store } = logFor({ maxCharacters: ROOM, maxRequests: 1000, maxWorlds: 200 });
  for (let nth = 0; nth < 150; nth += 1) await ask(world(`w${nth}-`), 1);
  const compacted = vi.spyOn(store, 'compact');
  await ask(world('w149-'), 100);
  expect(compacted.mock.calls.length).toBeLessThan(150);
});

test('when that is not enough, they lose their requests: of many worlds with one each, those used lately keep theirs', async () => {
  const { world, failures } = logFor({ maxCharacters: ROOM, maxRequests: 1000, maxWorlds: 1000 });
  const worlds = Array.from({ length: 900 }, (_, nth) => world(`w${nth}-`));
  const lost: number[] = [];
  for (const [nth, one] of worlds.entries()) {
    await ask(one, 1);
    const newest = worlds.slice(Math.max(0, nth - 50), nth + 1);
    if (newest.some(({ latest }) => latest.requests.list.length === 0)) lost.push(nth);
  }
  expect(lost).toEqual([]);
  expect(worlds[0]!.latest.requests.list).toEqual([]);
  expect(failures).toEqual([]);
});

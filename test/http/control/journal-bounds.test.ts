import { expect, test } from 'vitest';
import type { RequestsAnswer } from '../../../src/contract/control-answers.ts';
import { ask } from '../../support/control.ts';
import { sandboxFor, type Client } from '../../support/sandbox.ts';

const KIB = 1024;

/** The ids of the entries that are known, the oldest first, and how many had to make room. */
async function kept(world: Client): Promise<{ ids: number[]; evicted: number }> {
  const { requests, evicted } = (await ask(world, 'GET', '/requests?order=oldest&limit=1000'))
    .body as RequestsAnswer;
  return { ids: requests.map(({ id }) => id), evicted };
}

/** A request of so many KiB, which is refused. */
const heavy = (world: Client, kib: number) => world.pay({ remarks: 'x'.repeat(kib * KIB), amount: 0 });

const span = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, nth) => first + nth);

test('the journal of a world holds so many entries; the oldest make room, and are counted', async () => {
  const { client } = await sandboxFor({ journalEntries: 3 });
  const world = client();
  for (let nth = 1; nth <= 3; nth += 1) await world.balance();
  expect(await kept(world)).toEqual({ ids: [1, 2, 3], evicted: 0 });
  await world.balance();
  await world.balance();
  expect(await kept(world)).toEqual({ ids: [3, 4, 5], evicted: 2 });
  expect((await ask(world, 'DELETE', '/requests')).body).toEqual({ cleared: 3 });
  expect(await kept(world)).toEqual({ ids: [], evicted: 0 });
});

test('a thousand entries by default', async () => {
  const { client } = await sandboxFor();
  const world = client();
  for (let nth = 0; nth < 1010; nth += 101) {
    await Promise.all(Array.from({ length: 101 }, () => world.balance()));
  }
  expect(await kept(world)).toEqual({ ids: span(11, 1010), evicted: 10 });
});

test('a journal of no entries keeps none, and its world works', async () => {
  const { client } = await sandboxFor({ journalEntries: 0 });
  const world = client();
  expect((await world.pay()).status).toBe(200);
  expect(await kept(world)).toEqual({ ids: [], evicted: 1 });
});

test('the journal of a world holds a part of the memory of all: large bodies make room sooner than small ones', async () => {
  const { client } = await sandboxFor({ journalMemory: '1600KiB' }); // and 100 KiB for one world
  const [large, small] = [client(), client()];
  for (let nth = 1; nth <= 10; nth += 1) {
    await heavy(large, 30);
    await small.balance();
  }
  expect(await kept(large)).toEqual({ ids: [8, 9, 10], evicted: 7 });
  expect(await kept(small)).toEqual({ ids: span(1, 10), evicted: 0 });
});

test('the journals of all worlds share one memory: past it the oldest entry of all makes room, whosever it is', async () => {
  const { client } = await sandboxFor({ journalMemory: '1600KiB' });
  const idle = client();
  for (let nth = 1; nth <= 5; nth += 1) await idle.balance();
  const busy = Array.from({ length: 30 }, () => client());
  for (const world of busy) await heavy(world, 60);
  expect(await kept(idle)).toEqual({ ids: [], evicted: 5 });
  const left = await Promise.all(busy.map(async (world) => (await kept(world)).ids.length));
  const first = left.indexOf(1);
  expect(first).toBeGreaterThan(0); // the oldest of the busy ones went next
  expect(left).toEqual([...Array<number>(first).fill(0), ...Array<number>(30 - first).fill(1)]);
  expect(30 - first).toBeGreaterThanOrEqual(20);
});

test('a world that is reset gives its part of the memory back', async () => {
  const { client } = await sandboxFor({ journalMemory: '1600KiB' });
  const worlds = Array.from({ length: 20 }, () => client());
  for (let round = 0; round < 3; round += 1) {
    for (const world of worlds) await heavy(world, 60);
    for (const world of worlds) expect(await kept(world)).toMatchObject({ ids: [round + 1], evicted: 0 });
    for (const world of worlds) await world.world.reset();
  }
});

test('an entry that had to make room while its answer was held back is not known, and its answer still comes', async () => {
  const { client } = await sandboxFor({ journalEntries: 2, settlement: 'manual' });
  const world = client();
  await world.world.rule({ match: { client_ref_id: 'held' }, effect: { delay: '1h' } });
  const held = world.pay({ client_ref_id: 'held' });
  await expect.poll(async () => (await kept(world)).ids).toEqual([1]);
  for (let nth = 0; nth < 3; nth += 1) await world.balance();
  expect(await kept(world)).toEqual({ ids: [3, 4], evicted: 2 });
  await world.world.reset();
  expect((await held).status).toBe(200);
  expect(await kept(world)).toEqual({ ids: [], evicted: 0 });
});

import { expect, test } from 'vitest';
import type { RequestsResponse } from '../../../src/contract/control-responses.ts';
import { ask } from '../../support/control.ts';
import { connectSandbox } from '../../../src/index.ts';
import { startProgram } from '../../support/program.ts';
import { clientFor, clientOf, sandboxFor, type Client } from '../../support/sandbox.ts';

const KIB = 1024;

/** The ids of the journal entries, oldest first, and how many entries were dropped. */
async function journalOf(world: Client): Promise<{ ids: number[]; evicted: number }> {
  const { requests, evicted } = (await ask(world, 'GET', '/requests?order=oldest&limit=1000'))
    .body as RequestsResponse;
  return { ids: requests.map(({ id }) => id), evicted };
}

/** Sends a request of `kib` KiB, which is refused. */
const sendLarge = (world: Client, kib: number) => world.pay({ remarks: 'x'.repeat(kib * KIB), amount: 0 });

test('a full journal drops its oldest entries, and counts them', async () => {
  const world = await clientFor({ journalEntries: 3 });
  for (let nth = 1; nth <= 3; nth += 1) await world.balance();
  expect(await journalOf(world)).toEqual({ ids: [1, 2, 3], evicted: 0 });
  await world.balance();
  await world.balance();
  expect(await journalOf(world)).toEqual({ ids: [3, 4, 5], evicted: 2 });
  expect((await ask(world, 'DELETE', '/requests')).body).toEqual({ cleared: 3 });
  expect(await journalOf(world)).toEqual({ ids: [], evicted: 0 });
});

test('a world with a journal of 0 entries works, and keeps none', async () => {
  const world = await clientFor({ journalEntries: 0 });
  expect((await world.pay()).status).toBe(200);
  expect(await journalOf(world)).toEqual({ ids: [], evicted: 1 });
});

test('the journal of a world has a share of the journal memory, which few large bodies fill, and not as many small ones', async () => {
  const { client } = await sandboxFor({ journalMemory: '1600KiB' }); // 100 KiB for each world
  const [large, small] = [client(), client()];
  for (let nth = 1; nth <= 10; nth += 1) {
    await sendLarge(large, 30);
    await small.balance();
  }
  expect(await journalOf(large)).toEqual({ ids: [8, 9, 10], evicted: 7 });
  expect(await journalOf(small)).toEqual({ ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], evicted: 0 });
});

test('the journal memory is smaller where the heap is small, also if more was set', async () => {
  const { url } = await startProgram({
    NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=1',
    SANDBOX_JOURNAL_MEMORY: '64MiB',
  });
  const world = clientOf(connectSandbox({ url }).world());
  for (let nth = 1; nth <= 50; nth += 1) await sendLarge(world, 60); // 3 MiB, of a share of 4 MiB on a large heap
  expect((await journalOf(world)).evicted).toBeGreaterThan(0);
});

test('a reset frees the journal memory of a world', async () => {
  const { client } = await sandboxFor({ journalMemory: '1600KiB' });
  const worlds = Array.from({ length: 20 }, () => client());
  for (const ids of [[1], [2]]) {
    for (const world of worlds) await sendLarge(world, 60);
    for (const world of worlds) expect(await journalOf(world)).toEqual({ ids, evicted: 0 });
    for (const world of worlds) await world.world.reset();
  }
});

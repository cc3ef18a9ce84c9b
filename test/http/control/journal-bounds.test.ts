import { expect, test } from 'vitest';
import type { RequestsResponse } from '../../../src/contract/control-responses.ts';
import { ask } from '../../support/control.ts';
import { clientFor, sandboxFor, type Client } from '../../support/sandbox.ts';
import { isStored } from '../../support/size.ts';

/** The ids of the journal entries, oldest first, and how many entries were dropped. */
async function journalOf(world: Client): Promise<{ ids: number[]; evicted: number }> {
  const { requests, evicted } = (await ask(world, 'GET', '/requests?order=oldest&limit=1000'))
    .body as RequestsResponse;
  return { ids: requests.map(({ id }) => id), evicted };
}

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

// a server with a store drops its copies of worlds instead
test.each(
  isStored ? [] : ['all journals together have a number of requests: the largest loses its older half'],
)('%s', async () => {
  const { client } = await sandboxFor({ journalTotal: 4 });
  const [small, large] = [client(), client()];
  for (let nth = 1; nth <= 1; nth += 1) await small.balance();
  for (let nth = 1; nth <= 4; nth += 1) await large.balance();
  expect(await journalOf(large)).toEqual({ ids: [3, 4], evicted: 2 });
  expect(await journalOf(small)).toEqual({ ids: [1], evicted: 0 });
});

import { expect, test } from 'vitest';
import type { World } from '../../src/worlds/world.ts';
import { balance, logFor } from '../support/world/core.ts';

/** Sends some requests. */
async function ask(world: World, requests: number): Promise<void> {
  for (let nth = 0; nth < requests; nth += 1) await world.submit(balance());
}

test('when all worlds together remember too much, those idle longest lose their requests: of many worlds with one each, those used lately keep theirs', async () => {
  const { world, failures } = logFor({ maxRequestsInAll: 100, maxRequests: 1000, maxWorlds: 1000 });
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

test('where memory is short, the largest journals lose their older half, and say so', async () => {
  const { log, world } = logFor({ maxRequests: 1000 });
  const [small, large, larger] = [world('a'), world('b'), world('c')];
  for (const [one, requests] of [[small, 3] as const, [large, 8] as const, [larger, 13] as const])
    await ask(one, requests);
  expect(log.cutJournals()).toBe(4 + 7);
  const kept = [small, large, larger].map(({ latest: { requests } }) => [
    requests.list.map(({ nth }) => nth)[0],
    requests.evicted,
  ]);
  expect(kept).toEqual([
    [1, 0],
    [5, 4],
    [8, 7],
  ]);
});

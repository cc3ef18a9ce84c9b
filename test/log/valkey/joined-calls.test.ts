import type { Redis } from 'iovalkey';
import { describe, expect, test } from 'vitest';
import { joinedCalls } from '../../../src/log/valkey/store-calls.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { ownStore, redisAt } from '../../support/store/fresh-store.ts';
import type { RedisServer } from '../../support/store/redis-server.ts';

/** How often a store reads from its connections while something is done. */
async function readsOf(store: RedisServer, work: () => Promise<unknown>): Promise<number> {
  const observer = redisAt(store.url);
  const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await observer.info('stats'))![1]);
  const before = await reads();
  await work();
  return (await reads()) - before - 1; // its own question
}

/** Counts a hundred times, each count a call of its own. @returns the last count */
async function countTo100(client: Redis): Promise<number> {
  const joined = joinedCalls(client, systemClock());
  const count = () => joined(() => client.incr('counter'));
  const counted = await Promise.all(Array.from({ length: 100 }, count));
  return counted.at(-1)!;
}

describe('a store', () => {
  test('receives all calls of one turn of the event loop in one read, also after a reconnect', async () => {
    const store = await ownStore(); // one that nobody else writes to
    const client = redisAt(store.url);
    for (const total of [100, 200]) {
      await readsOf(store, () => client.ping()); // connects
      const reads = await readsOf(store, async () => {
        expect(await countTo100(client)).toBe(total);
      });
      expect(reads).toBe(1);
      client.disconnect(true);
    }
  });
});

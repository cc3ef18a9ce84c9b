import { Redis } from 'iovalkey';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { joinCommands } from '../../../src/log/valkey/joined-writes.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { RedisServer } from '../../support/redis-server.ts';

describe.skipIf(inject('storeUrl') === '')('a store', () => {
  test('reads all commands of one turn of the event loop at once, and after a reconnect too', async () => {
    const store = await RedisServer.start(); // one that nobody else writes to
    onTestFinished(() => store.end());
    const client = new Redis(store.url);
    onTestFinished(() => client.disconnect());
    joinCommands(client, systemClock());
    const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))![1]);
    for (const total of [100, 200]) {
      const before = await reads();
      const counted = await Promise.all(Array.from({ length: 100 }, () => client.incr('counter')));
      expect(counted.at(-1)).toBe(total);
      expect((await reads()) - before).toBe(2); // the commands, and the question itself
      client.disconnect(true);
    }
  });
});

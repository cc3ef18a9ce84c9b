import { Cluster, Redis } from 'iovalkey';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { joinCommands } from '../../../src/log/valkey/joined-writes.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';
import { RedisServer } from '../../support/redis-server.ts';
import { isLong } from '../../support/size.ts';

/** How often a store reads from its connections while something is done. */
async function readsOf(store: RedisServer, work: () => Promise<unknown>): Promise<number> {
  const observer = new Redis(store.url);
  onTestFinished(() => observer.disconnect());
  const reads = async () => Number(/total_reads_processed:(\d+)/.exec(await observer.info('stats'))![1]);
  const before = await reads();
  await work();
  return (await reads()) - before - 1; // its own question
}

describe.skipIf(inject('storeUrl') === '')('a store', () => {
  test('reads all commands of one turn of the event loop at once, and after a reconnect too', async () => {
    const store = await RedisServer.start(); // one that nobody else writes to
    onTestFinished(() => store.end());
    const client = new Redis(store.url);
    onTestFinished(() => client.disconnect());
    joinCommands(client, systemClock());
    for (const total of [100, 200]) {
      await readsOf(store, () => client.ping()); // connects
      const reads = await readsOf(store, async () => {
        const counted = await Promise.all(Array.from({ length: 100 }, () => client.incr('counter')));
        expect(counted.at(-1)).toBe(total);
      });
      expect(reads).toBe(1);
      client.disconnect(true);
    }
  });

  test.runIf(isLong)('reads them at once as a node of a cluster too', async () => {
    const store = await RedisServer.start(
      '--cluster-enabled',
      'yes',
      '--databases',
      '1',
      '--cluster-announce-ip',
      '127.0.0.1',
    );
    onTestFinished(() => store.end());
    await RedisServer.makeCluster([store]);
    const client = new Cluster([{ host: '127.0.0.1', port: store.port }]);
    onTestFinished(() => client.disconnect());
    joinCommands(client, systemClock());
    await client.ping();
    const reads = await readsOf(store, () =>
      Promise.all(Array.from({ length: 100 }, () => client.incr('counter'))),
    );
    expect(reads).toBeLessThan(5); // it may ask for the slots meanwhile
  });
});

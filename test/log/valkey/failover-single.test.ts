import { expect, onTestFinished, test } from 'vitest';
import { allReplicated } from '../../support/store/store-cluster.ts';
import { RedisServer } from '../../support/store/redis-server.ts';
import { credit, storedLogFor, WORLD } from '../../support/store/stored-log.ts';
import { withoutPatience } from '../../support/store/store-times.ts';
import { TcpProxy } from '../../support/http/tcp-proxy.ts';

test('a failover that leaves connections open is followed: a store that became read-only is connected again', async () => {
  const [first, second] = [await RedisServer.start(), await RedisServer.start()];
  for (const server of [first, second]) onTestFinished(() => server.end());
  await second.command('REPLICAOF', '127.0.0.1', String(first.port));
  const address = await TcpProxy.to(first.port);
  onTestFinished(() => address.close());
  const noted: string[] = [];
  const { log } = await storedLogFor(`redis://127.0.0.1:${address.port}`, 'one', {
    storeObserver: {
      away: (reason) => void noted.push(reason),
      back: () => void noted.push('back'),
    },
  });
  await credit(log);
  const events: string[] = [];
  await (
    await log.use(WORLD)
  ).watch(undefined, { take: ({ type }) => void events.push(type), end: () => undefined });
  await allReplicated(first);
  address.targetPort = second.port; // only new connections lead there
  await second.command('REPLICAOF', 'NO', 'ONE');
  await first.command('REPLICAOF', '127.0.0.1', String(second.port));
  await withoutPatience(() => expect(credit(log)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' }));
  await expect.poll(() => credit(log).catch(() => 'refused')).not.toBe('refused');
  await expect.poll(() => noted).toEqual([expect.stringContaining('READONLY'), 'back']);
  await expect.poll(() => events).toEqual(['wallet']);
});

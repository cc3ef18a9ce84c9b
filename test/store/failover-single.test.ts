import { expect, test } from 'vitest';
import { allReplicated } from '../support/store/store-cluster.ts';
import { ownStore, proxyBefore } from '../support/store/fresh-store.ts';
import { credit, storedLogFor, WORLD } from '../support/store/stored-log.ts';
import { withoutPatience } from '../support/store/store-times.ts';
import { readerOf } from '../support/world/core.ts';

test('a failover that leaves connections open is followed: a store that became read-only is connected again', async () => {
  const [first, second] = [await ownStore(), await ownStore()];
  await second.command('REPLICAOF', '127.0.0.1', String(first.port));
  const { proxy, url } = await proxyBefore(first);
  const noted: string[] = [];
  const { log } = await storedLogFor(url, 'one', {
    storeObserver: {
      away: (reason) => void noted.push(reason),
      back: () => void noted.push('back'),
    },
  });
  await credit(log);
  const { read } = await readerOf(await log.use(WORLD));
  await allReplicated(first);
  proxy.targetPort = second.port; // only new connections lead there
  await second.command('REPLICAOF', 'NO', 'ONE');
  await first.command('REPLICAOF', '127.0.0.1', String(second.port));
  await withoutPatience(() => expect(credit(log)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' }));
  await expect.poll(() => credit(log).catch(() => 'refused')).not.toBe('refused');
  // between them, the connection that is given up may say why, too
  await expect.poll(() => [noted[0], noted.at(-1)]).toEqual([expect.stringContaining('READONLY'), 'back']);
  await expect.poll(() => read.map(({ type }) => type)).toEqual(['wallet']);
});

import { describe, expect, test } from 'vitest';
import { keysOf, LIST_KEY } from '../../src/store/scripts.ts';
import type { Client } from '../support/sandbox.ts';
import type { RedisServer } from '../support/store/redis-server.ts';
import { serversFor } from '../support/store/shared-servers.ts';
import { isLong } from '../support/size.ts';
import {
  allReplicated,
  clusterNodes,
  clusterUrl,
  moveSlot,
  nodeOf,
  QUICK_TO_FAIL_OVER,
  replicaOf,
} from '../support/store/store-cluster.ts';

const OPENING = 100_000;
const CLIENTS = 4;

/** Pays at all servers until `work` is done. A payout that got a 503 is sent again. @returns what was acknowledged */
async function payDuring(worlds: readonly Client[], name: string, work: () => Promise<void>) {
  const acknowledged: string[] = [];
  const done = new AbortController();
  const payOn = async (client: number): Promise<void> => {
    for (let nth = 0; !done.signal.aborted; nth += 1) {
      const reference = `${name}-${client}-${nth}`;
      for (let tried = 0; ; tried += 1) {
        const { status } = await worlds[(client + tried) % worlds.length]!.pay({
          client_ref_id: reference,
          amount: 1,
        });
        if (status === 200) break;
        expect(status).toBe(503);
      }
      acknowledged.push(reference);
    }
  };
  const paying = Array.from({ length: CLIENTS }, (_, client) => payOn(client));
  await Promise.all([work().finally(() => done.abort()), ...paying]);
  return acknowledged;
}

/** Waits until all servers can use the store again. */
async function expectPaidOnce(worlds: readonly Client[], acknowledged: readonly string[]): Promise<void> {
  for (const { world } of worlds) {
    const summary = () => world.summary().catch((error: Error) => error);
    await expect.poll(summary).toMatchObject({
      balance: OPENING - acknowledged.length,
      transactions: { PENDING: acknowledged.length },
      invariants: 'hold',
    });
  }
}

const SETTINGS = { openingBalance: OPENING, settlement: 'manual' } as const;

/** The node that a world is on. */
async function nodeOfWorld(nodes: readonly RedisServer[], { world }: Client): Promise<RedisServer> {
  const { id } = await world.summary();
  return nodeOf(nodes, String(await nodes[0]!.command('CLUSTER', 'KEYSLOT', keysOf(id).head)));
}

describe('a cluster of stores', () => {
  test.each(isLong ? ['the list of worlds'] : [])(
    'serves and opens worlds on the other nodes while the node with %s is away, and lists them once it is back',
    async () => {
      const nodes = await clusterNodes('--cluster-require-full-coverage', 'no', '--appendonly', 'yes');
      const { clients, servers } = await serversFor(1, {
        ...SETTINGS,
        rateLimit: '100/1s',
        store: clusterUrl(nodes),
      });
      const slot = String(await nodes[0]!.command('CLUSTER', 'KEYSLOT', LIST_KEY));
      const lost = await nodeOf(nodes, slot);
      const worlds = Array.from({ length: 12 }, (_, nth) => clients(`sk_test_${nth}`)[0]!);
      const homes = await Promise.all(worlds.map((world) => nodeOfWorld(nodes, world)));
      const gone = worlds.filter((_, nth) => homes[nth] === lost);
      const others = worlds.filter((_, nth) => homes[nth] !== lost);
      expect([gone, others]).not.toContainEqual([]);
      await gone[0]!.pay();

      await lost.kill();
      for (let round = 0; round < 3; round += 1) {
        expect((await gone[0]!.pay()).status).toBe(503);
        for (const other of others)
          expect((await other.pay({ client_ref_id: `round-${round}` })).status).toBe(200);
        expect((await fetch(`${servers[0]!.url}/_sandbox/health`)).status).toBe(200);
      }
      const later = Array.from({ length: 12 }, (_, nth) => clients(`sk_test_later_${nth}`)[0]!);
      const statuses = await Promise.all(later.map(async (world) => (await world.pay()).status));
      const opened = statuses.filter((status) => status === 200).length;
      expect(opened).toBeGreaterThan(0);
      await lost.start();
      const replayed = async () => (await gone[0]!.pay()).headers.get('idempotent-replayed');
      await expect.poll(replayed).toBe('true');
      const listed = () => servers[0]!.worlds().catch((error: Error) => error);
      await expect.poll(listed).toHaveLength(12 + opened);
    },
  );

  test.each(isLong ? ['moves'] : [])(
    'loses nothing and pays nothing twice while the slot of a world %s from node to node',
    async () => {
      const nodes = await clusterNodes();
      const { clients } = await serversFor(2, { ...SETTINGS, store: clusterUrl(nodes) });
      const worlds = clients();
      const { id } = await worlds[0]!.world.summary();
      const slot = String(await nodes[0]!.command('CLUSTER', 'KEYSLOT', keysOf(id).head));
      const acknowledged = await payDuring(worlds, 'order', async () => {
        const first = nodes.indexOf(await nodeOf(nodes, slot));
        for (let nth = first; nth < first + 6; nth += 1) {
          await moveSlot(nodes, slot, nodes[(nth + 1) % 3]!);
        }
      });
      expect(acknowledged.length).toBeGreaterThan(0);
      await expectPaidOnce(worlds, acknowledged);
    },
  );

  test.each(isLong ? ['node'] : [])(
    'recovers by itself when the replica of a %s takes over, on command or after a crash',
    async () => {
      const nodes = await clusterNodes(...QUICK_TO_FAIL_OVER);
      const { clients } = await serversFor(2, { ...SETTINGS, store: clusterUrl(nodes) });
      const worlds = clients();
      const { id } = await worlds[0]!.world.summary();
      const slot = String(await nodes[0]!.command('CLUSTER', 'KEYSLOT', keysOf(id).head));
      const master = await nodeOf(nodes, slot);
      const replica = await replicaOf(master, nodes);
      const isMaster = async (): Promise<boolean> => (await nodeOf([replica, ...nodes], slot)) === replica;

      const asked = await payDuring(worlds, 'asked', async () => {
        await replica.command('CLUSTER', 'FAILOVER');
        await expect.poll(isMaster).toBe(true);
      });
      await expectPaidOnce(worlds, asked);

      await allReplicated(replica); // what the new replica has not received would be lost
      await replica.kill();
      const killed = await payDuring(worlds, 'killed', async () => {
        await expect.poll(async () => (await worlds[0]!.balance()).status).toBe(200);
      });
      await expectPaidOnce(worlds, [...asked, ...killed]);
    },
  );
});

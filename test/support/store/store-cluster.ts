import { ownStore } from './fresh-store.ts';
import { RedisServer, soon } from './redis-server.ts';

const FLAGS = ['--cluster-enabled', 'yes', '--databases', '1', '--cluster-announce-ip', '127.0.0.1'];
/** Nodes take one for dead that stands still for a second. Otherwise they wait longer than a busy machine stands still. */
export const QUICK_TO_FAIL_OVER = ['--cluster-node-timeout', '1000'];

/** A node that is not in a cluster yet. @param flags more than usual */
export const node = (...flags: string[]): Promise<RedisServer> => ownStore(...FLAGS, ...flags);

/** Three nodes, between which worlds are spread. @param flags more than usual */
export async function clusterNodes(...flags: string[]): Promise<readonly RedisServer[]> {
  const nodes = [await node(...flags), await node(...flags), await node(...flags)];
  await RedisServer.makeCluster(nodes);
  return nodes;
}

export const clusterUrl = (nodes: readonly RedisServer[]): string =>
  `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

/** A store of three nodes. @returns its address */
export const clusterFor = async (): Promise<string> => clusterUrl(await clusterNodes());

const idOf = async (server: RedisServer): Promise<string> => String(await server.command('CLUSTER', 'MYID'));

/** A node that takes over from another when that is gone. All nodes know it then: one that does not will not vote for it. */
export async function replicaOf(master: RedisServer, nodes: readonly RedisServer[]): Promise<RedisServer> {
  const replica = await node(...QUICK_TO_FAIL_OVER);
  const [masterId, id] = [await idOf(master), await idOf(replica)];
  await replica.meet(master);
  await replica.command('CLUSTER', 'REPLICATE', masterId);
  const known = async (by: RedisServer) => String(await by.command('CLUSTER', 'REPLICAS', masterId));
  for (const one of nodes) while (!(await known(one)).includes(id)) await soon();
  while (!String(await master.command('INFO', 'replication')).includes('state=online')) await soon();
  return replica;
}

/** Resolves once a replica has received everything that a node has written. */
export async function allReplicated(master: RedisServer): Promise<void> {
  for (;;) {
    const info = String(await master.command('INFO', 'replication'));
    const received = /^slave0:.*state=online,offset=(\d+)/m.exec(info)?.[1];
    if (received !== undefined && received === /^master_repl_offset:(\d+)/m.exec(info)?.[1]) return;
    await soon();
  }
}

/** Moves a slot with all its keys, as `redis-cli --cluster reshard` does, and waits until all nodes know. */
export async function moveSlot(nodes: readonly RedisServer[], slot: string, to: RedisServer): Promise<void> {
  const from = await nodeOf(nodes, slot);
  const [fromId, toId] = [await idOf(from), await idOf(to)];
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  for (;;) {
    const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, '1')) as string[];
    if (keys.length === 0) break;
    await from.command('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys);
  }
  for (const server of [to, from]) await server.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  for (const server of nodes) {
    const others = nodes.filter((one) => one !== server);
    while ((await nodeOf([server, ...others], slot)) !== to) await soon();
  }
}

/** The node that has a slot, as the first node knows. */
export async function nodeOf(nodes: readonly RedisServer[], slot: string): Promise<RedisServer> {
  const [, , [, port]] = (
    (await nodes[0]!.command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
  ).find(([first, last]) => first <= Number(slot) && Number(slot) <= last)!;
  return nodes.find((one) => one.port === port)!;
}

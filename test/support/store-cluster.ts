import { onTestFinished } from 'vitest';
import { RedisServer } from './redis-server.ts';

const FLAGS = ['--cluster-enabled', 'yes', '--databases', '1', '--cluster-node-timeout', '1000'];

async function node(): Promise<RedisServer> {
  const server = await RedisServer.start(...FLAGS);
  onTestFinished(() => server.end());
  return server;
}

/** Three nodes, between which worlds are spread. */
export async function clusterNodes(): Promise<readonly RedisServer[]> {
  const nodes = [await node(), await node(), await node()];
  await RedisServer.makeCluster(nodes);
  return nodes;
}

export const clusterUrl = (nodes: readonly RedisServer[]): string =>
  `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;

/** A store of three nodes. @returns its address */
export const clusterFor = async (): Promise<string> => clusterUrl(await clusterNodes());

const idOf = async (server: RedisServer): Promise<string> => String(await server.command('CLUSTER', 'MYID'));

/** A node that takes over from another when that is gone. */
export async function replicaOf(master: RedisServer): Promise<RedisServer> {
  const replica = await node();
  await replica.command('CLUSTER', 'MEET', '127.0.0.1', String(master.port));
  const id = await idOf(master);
  while (!String(await replica.command('CLUSTER', 'NODES')).includes(id)) await nextTurn();
  await replica.command('CLUSTER', 'REPLICATE', id);
  while (!String(await master.command('INFO', 'replication')).includes('state=online')) await nextTurn();
  return replica;
}

/** Resolves once a replica has received everything that a node has written. */
export async function allReplicated(master: RedisServer): Promise<void> {
  for (;;) {
    const info = String(await master.command('INFO', 'replication'));
    const received = /^slave0:.*state=online,offset=(\d+)/m.exec(info)?.[1];
    if (received !== undefined && received === /^master_repl_offset:(\d+)/m.exec(info)?.[1]) return;
    await nextTurn();
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The node that has a slot, as the first node knows. */
export async function nodeOf(nodes: readonly RedisServer[], slot: string): Promise<RedisServer> {
  const [, , [, port]] = (
    (await nodes[0]!.command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][]
  ).find(([first, last]) => first <= Number(slot) && Number(slot) <= last)!;
  return nodes.find((one) => one.port === port)!;
}

import { onTestFinished } from 'vitest';
import { RedisServer } from './redis-server.ts';

/** A store of three nodes, between which worlds are spread. @returns its address */
export async function clusterFor(): Promise<string> {
  const nodes: RedisServer[] = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const node = await RedisServer.start('--cluster-enabled', 'yes', '--databases', '1');
    onTestFinished(() => node.end());
    nodes.push(node);
  }
  await RedisServer.makeCluster(nodes);
  return `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
}

import type { Cluster, Redis } from 'iovalkey';
import type { WallClock } from '../wall-clock.ts';

/** Holds the writes of a connection back until the end of the turn of the event loop, so that they leave as one. */
function joinWrites({ stream }: Redis, wallClock: WallClock): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let isCorked = false;
  const uncork = async (): Promise<void> => {
    await wallClock.yieldToEventLoop();
    isCorked = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      void uncork();
    }
    return write(...args);
  };
}

/**
 * Sends all commands of one turn of the event loop to a server in one write. The store then reads them at once and answers them
 * at once, which takes less time on both sides than a write for each.
 */
export function joinCommands(client: Redis | Cluster, wallClock: WallClock): void {
  const joinEach = (node: Redis): void => {
    node.on('connect', () => joinWrites(node, wallClock)); // each connection has a stream of its own
  };
  if (client.isCluster) client.on('+node', joinEach);
  else joinEach(client as Redis);
}

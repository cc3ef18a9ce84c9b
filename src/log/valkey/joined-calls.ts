import type { Cluster, Redis } from 'iovalkey';
import type { WallClock } from '../wall-clock.ts';

/**
 * Makes the calls of one turn of the event loop at its end, in one write to each server. The store then reads them at once and
 * answers them at once, which takes less time on both sides than a write for each.
 */
export class JoinedCalls {
  readonly #client: Redis | Cluster;
  readonly #wallClock: WallClock;
  #calls: (() => void)[] = [];

  constructor(client: Redis | Cluster, wallClock: WallClock) {
    this.#client = client;
    this.#wallClock = wallClock;
  }

  /** @param call sends its command before it waits for anything */
  make<T>(call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#calls.push(() => void call().then(resolve, reject));
      if (this.#calls.length === 1) void this.#end();
    });
  }

  async #end(): Promise<void> {
    await this.#wallClock.yieldToEventLoop();
    const client = this.#client;
    const nodes = client.isCluster ? (client as Cluster).nodes() : [client as Redis];
    const streams = nodes.map(({ stream }) => stream).filter((stream) => stream !== undefined); // only connected nodes have one
    for (const stream of streams) stream.cork();
    for (const call of this.#calls.splice(0)) call();
    for (const stream of streams) stream.uncork();
  }
}

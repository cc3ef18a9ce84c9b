import type { WallClock } from '../wall-clock.ts';
import { NOTHING, type Held } from '../totals.ts';
import { KEY_PREFIX } from './scripts/scripts.ts';
import type { StoreConnection } from './store-connection.ts';

export interface Touched extends Held {
  /** When it was used last, in ms of wall time. */
  readonly usedAtMs: number;
}

interface Options {
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly idleMs: number;
  /** What this server knows better: its own worlds are counted by itself. */
  readonly isKnown: (worldId: string) => boolean;
}

const EVERY_MS = 1000;
const USED = `${KEY_PREFIX}worlds`;
const HELD = `${KEY_PREFIX}held`;

/**
 * The worlds of all servers: when each was used last, and how much it holds. It is written and read once a second, so the caps
 * over all worlds are approximate.
 */
export class WorldDirectory {
  readonly #options: Options;
  readonly #changed = new Map<string, Touched>();
  /** What the worlds hold that this server does not know, and how many worlds there are in all. */
  elsewhere: Held & { readonly worlds: number } = { ...NOTHING, worlds: 0 };
  #cancel: () => void = () => undefined;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.exchange();
  }

  touch(worldId: string, touched: Touched): void {
    this.#changed.set(worldId, touched);
  }

  /** All worlds with the wall time of their latest use, the one that was idle longest first. */
  async list(): Promise<readonly (readonly [worldId: string, usedAtMs: number])[]> {
    const { store } = this.#options;
    await this.#write();
    const list = await store.reliably(() => store.client.zrange(USED, 0, -1, 'WITHSCORES'));
    return Array.from({ length: list.length / 2 }, (_, nth) => [list[2 * nth]!, Number(list[2 * nth + 1])]);
  }

  /** The world that was idle longest. */
  async idlest(): Promise<string | undefined> {
    const { store } = this.#options;
    const [idlest] = await store.reliably(() => store.client.zrange(USED, 0, 0));
    return idlest;
  }

  async add(worldId: string, usedAtMs: number): Promise<number> {
    const { store } = this.#options;
    await store.reliably(() => store.client.zadd(USED, usedAtMs, worldId));
    return store.reliably(() => store.client.zcard(USED));
  }

  async remove(worldId: string): Promise<void> {
    const { store } = this.#options;
    this.#changed.delete(worldId);
    await store.reliably(() => store.client.zrem(USED, worldId));
    await store.reliably(() => store.client.hdel(HELD, worldId));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Writes what this server knows, reads what the others do, and does so again in a second. */
  async exchange(): Promise<void> {
    const { wallClock, store } = this.#options;
    try {
      if (!store.isAway) {
        await this.#write();
        await this.#read();
      }
    } catch {
      // the store is away: the heartbeat says so
    }
    if (this.#isClosed) return;
    this.#cancel = wallClock.schedule(wallClock.nowMs() + EVERY_MS, () => void this.exchange());
  }

  async #write(): Promise<void> {
    const { store } = this.#options;
    if (this.#changed.size === 0) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    await store.client.zadd(USED, ...changed.flatMap(([worldId, { usedAtMs }]) => [usedAtMs, worldId]));
    await store.client.hset(
      HELD,
      ...changed.flatMap(([worldId, { records, attempts, documentBytes }]) => [
        worldId,
        `${records} ${attempts} ${documentBytes}`,
      ]),
    );
  }

  async #read(): Promise<void> {
    const { store, wallClock, idleMs, isKnown } = this.#options;
    const { client } = store;
    const over = await client.zrangebyscore(USED, '-inf', wallClock.nowMs() - idleMs, 'LIMIT', 0, 1000);
    if (over.length > 0) {
      await client.zrem(USED, ...over);
      await client.hdel(HELD, ...over);
    }
    const worlds = await client.zcard(USED);
    let [records, attempts, documentBytes] = [0, 0, 0];
    for (const [worldId, held] of Object.entries(await client.hgetall(HELD))) {
      if (isKnown(worldId)) continue;
      const ofWorld = held.split(' ').map(Number);
      records += ofWorld[0] ?? 0;
      attempts += ofWorld[1] ?? 0;
      documentBytes += ofWorld[2] ?? 0;
    }
    this.elsewhere = { records, attempts, documentBytes, worlds };
  }
}

import type { ScenarioSource } from '../contract/snapshot.ts';
import type { Opened } from '../worlds/order.ts';
import type { SharedWorlds, WorldsPage } from '../worlds/shared-worlds.ts';
import type { OrderOf, World } from '../worlds/world.ts';
import { keysOf, LIST_KEY } from './scripts.ts';
import { StoreConnection, type ConnectionOptions } from './store-connection.ts';
import { STORE_TIMES } from './store-times.ts';
import { keptMs, StoredLog, type LogOptions } from './stored-log.ts';
import { WorldLog } from './world-log.ts';

export interface StoreOptions extends ConnectionOptions, LogOptions {}

/** The worlds in Valkey or Redis, which many servers share. */
export class Store implements SharedWorlds {
  readonly connection: StoreConnection;
  readonly #options: StoreOptions;
  /** The worlds in which somebody on this server waits for what happens. */
  readonly #listening = new Set<World>();
  #cancelListening: (() => void) | null = null;

  private constructor(options: StoreOptions) {
    this.#options = options;
    this.connection = new StoreConnection(options);
  }

  /** Connects to the store, which may also become reachable later. */
  static async open(options: StoreOptions): Promise<Store> {
    const store = new Store(options);
    await store.connection.start();
    return store;
  }

  nowMs(): number {
    return this.connection.nowMs();
  }

  async open(
    worldId: string,
    source: ScenarioSource | null,
  ): Promise<(Opened & { orderOf: OrderOf }) | null> {
    const log = new StoredLog(this.connection, worldId, this.#options);
    const opened = await log.open(source);
    if (opened === null) return null;
    if (opened.isNew) await this.#list([[worldId, this.nowMs()]]).catch(() => undefined); // the next use lists it
    return { ...opened, orderOf: (world) => new WorldLog(world, log, opened, () => this.listen(world)) };
  }

  async drop(worldId: string): Promise<boolean> {
    const { head, log, states } = keysOf(worldId);
    const drop = () => this.connection.script<number>('drop', head, log, states);
    const isDropped = await this.connection.use(drop, head);
    await this.unlist(worldId).catch(() => undefined); // who reads the list finds that the world is gone
    return isDropped === 1;
  }

  ids(): Promise<readonly string[]> {
    return this.#ofList((client) => client.zrange(LIST_KEY, 0, -1));
  }

  async page(afterMs: number, count: number): Promise<WorldsPage> {
    const read = (from: string, to: string, most: number) =>
      this.#ofList((client) => client.zrangebyscore(LIST_KEY, from, to, 'WITHSCORES', 'LIMIT', 0, most));
    const first = await read(`(${afterMs}`, '+inf', count);
    const next = first.length < 2 * count ? null : Number(first.at(-1));
    const together = next === null ? [] : await read(String(next), String(next), -1);
    const uses = new Map<string, number>();
    const listed = [...first, ...together]; // each world is followed by its time
    for (let nth = 0; nth < listed.length; nth += 2) uses.set(listed[nth]!, Number(listed[nth + 1]));
    return { uses: [...uses], next };
  }

  async unlist(worldId: string): Promise<void> {
    await this.#ofList((client) => client.zrem(LIST_KEY, worldId));
  }

  async used(worlds: readonly World[]): Promise<void> {
    await this.#list(worlds.map(({ id, usedAtMs }) => [id, usedAtMs]));
  }

  close(): void {
    this.#cancelListening?.();
    this.connection.close();
  }

  /** Asks regularly for what happens in a world, for as long as a connection of this server waits for that. */
  listen(world: World): void {
    this.#listening.add(world);
    if (this.#cancelListening !== null) return;
    const { wallClock } = this.#options;
    this.#cancelListening = wallClock.schedule(wallClock.nowMs() + STORE_TIMES.listen, () => {
      this.#cancelListening = null;
      for (const one of this.#listening) {
        if (one.closed !== null || one.connections.isEmpty) this.#listening.delete(one);
        else one.inBackground(one.read(() => null, false));
      }
      const [next] = this.#listening;
      if (next !== undefined) this.listen(next);
    });
  }

  #ofList<T>(work: (client: StoreConnection['client']) => Promise<T>): Promise<T> {
    return this.connection.use(() => work(this.connection.client), LIST_KEY);
  }

  /** Writes when worlds were used, and takes those off the list that have expired. */
  async #list(uses: readonly (readonly [worldId: string, usedAtMs: number])[]): Promise<void> {
    await this.#ofList((client) => client.zadd(LIST_KEY, 'GT', ...uses.flatMap(([id, atMs]) => [atMs, id])));
    await this.#ofList((client) =>
      client.zremrangebyscore(LIST_KEY, '-inf', this.nowMs() - keptMs(this.#options.idleMs)),
    );
  }
}

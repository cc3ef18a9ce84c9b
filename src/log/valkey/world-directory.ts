import type { WallClock } from '../wall-clock.ts';
import type { WorldRow } from '../world-log.ts';
import { NOTHING, type WorldSize } from '../totals.ts';
import { KEY_PREFIX, keysOf } from './scripts/scripts.ts';
import type { StoreConnection } from './store-connection.ts';

/** What a server that uses a world writes down of it. */
export interface DirectoryEntry {
  readonly size: WorldSize;
  readonly row: WorldRow;
  /** The name of the latest command in it. */
  readonly latestCommand: string;
  /** The wall time at which the next step is due; null when none is. */
  readonly dueAtMs: number | null;
}

/** The part of it that the list of worlds reads. */
type StoredRow = Pick<DirectoryEntry, 'row' | 'latestCommand' | 'dueAtMs'>;

const sizeText = ({ records, attempts, documentBytes }: WorldSize): string =>
  `${records} ${attempts} ${documentBytes}`;
const rowText = ({ row, latestCommand, dueAtMs }: StoredRow): string =>
  JSON.stringify({ row, latestCommand, dueAtMs });

interface Options {
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly idleMs: number;
  /** The worlds that this server has copies of. It counts them by itself, since it knows them better. */
  readonly knownIds: () => ReadonlySet<string>;
  /** Ends a world that was idle for too long, unless somebody has used it meanwhile. */
  readonly endIdle: (worldId: string) => Promise<void>;
  /** What to write down of a world; undefined where this server does not know it any more. */
  readonly entryOf: (worldId: string) => DirectoryEntry | undefined;
  /** Ends the copy that this server has of a world, if it is of another epoch. @param epoch that of the store; null for no world */
  readonly endOutdated: (worldId: string, epoch: string | null) => Promise<void>;
}

const EVERY_MS = 1000;
const MOST_AT_ONCE = 1000;
const AGAIN_AFTER_MS = 5000;
const USED = `${KEY_PREFIX}worlds`;
const HELD = `${KEY_PREFIX}held`;
const ROWS = `${KEY_PREFIX}rows`;

/**
 * The worlds of all servers: when each was used last, how much it holds, and what a list shows of it. It is written and read
 * once a second, so the caps over all worlds are approximate.
 */
export class WorldDirectory {
  readonly #options: Options;
  readonly #changed = new Set<string>();
  /** Written last time: a world that was dropped between the look at its head and the write is taken off the list at the next. */
  readonly #written = new Set<string>();
  /** What the worlds hold that this server does not know, and how many worlds there are in all. */
  elsewhere: WorldSize & { readonly worlds: number } = { ...NOTHING, worlds: 0 };
  #cancel: () => void = () => undefined;
  #isEnding = false;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** A world was used, or has changed. */
  touch(worldId: string): void {
    this.#changed.add(worldId);
  }

  /** The ids of all worlds, the one that was idle longest first. */
  async ids(): Promise<readonly string[]> {
    const { store } = this.#options;
    await store.reliably(() => this.write());
    return store.reliably(() => store.client.zrange(USED, 0, -1));
  }

  /** What a list shows of some worlds: null for one that is gone, undefined where what is written down is not up to date. */
  async rows(worldIds: readonly string[]): Promise<readonly (WorldRow | null | undefined)[]> {
    const { store, wallClock } = this.#options;
    const { client } = store;
    if (worldIds.length === 0) return [];
    await store.reliably(() => this.write());
    const latest = await store.reliably(() =>
      Promise.all(worldIds.map((worldId) => client.hget(keysOf(worldId).head, 'last'))),
    );
    const texts = await store.reliably(() => client.hmget(ROWS, ...worldIds));
    const nowMs = wallClock.nowMs();
    return texts.map((text, nth) => {
      if (latest[nth] === null) return null;
      if (text === null) return undefined;
      const { row, latestCommand, dueAtMs } = JSON.parse(text) as StoredRow;
      const isUpToDate = latestCommand === latest[nth] && (dueAtMs === null || dueAtMs > nowMs);
      return isUpToDate ? row : undefined;
    });
  }

  /** The world that was idle longest. */
  async idlest(): Promise<string | undefined> {
    const { store } = this.#options;
    const [idlest] = await store.reliably(() => store.client.zrange(USED, 0, 0));
    return idlest;
  }

  /** When a world was used last, in ms of wall time; null for a world that is not listed. */
  async usedAtMs(worldId: string): Promise<number | null> {
    const { store } = this.#options;
    const score = await store.reliably(() => store.client.zscore(USED, worldId));
    return score === null ? null : Number(score);
  }

  async add(worldId: string, usedAtMs: number): Promise<number> {
    const { store } = this.#options;
    await store.reliably(() => store.client.zadd(USED, usedAtMs, worldId));
    return store.reliably(() => store.client.zcard(USED));
  }

  async remove(worldId: string): Promise<void> {
    await this.#options.store.reliably(() => this.#remove([worldId]));
  }

  /** Writes what this server knows, but of no world that is gone. @throws Error where the store cannot be used */
  async write(): Promise<void> {
    const { store, entryOf } = this.#options;
    const { client } = store;
    const changed = [...this.#changed];
    const written = [...this.#written];
    this.#changed.clear();
    this.#written.clear();
    try {
      await this.#endGone([...new Set([...changed, ...written])]);
      const entries = changed.flatMap((worldId) => entryOf(worldId) ?? []);
      if (entries.length === 0) return;
      for (const { row } of entries) this.#written.add(row.id);
      await client.zadd(USED, 'GT', ...entries.flatMap(({ row }) => [row.usedAtMs, row.id]));
      await client.hset(HELD, ...entries.flatMap(({ row, size }) => [row.id, sizeText(size)]));
      await client.hset(ROWS, ...entries.flatMap((entry) => [entry.row.id, rowText(entry)]));
    } catch (error) {
      for (const worldId of changed) this.#changed.add(worldId);
      for (const worldId of written) this.#written.add(worldId);
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Reads what the others know, writes what this server does, and does so again in a second. */
  async exchange(): Promise<void> {
    const { wallClock, store } = this.#options;
    try {
      if (!store.isAway) {
        await this.#read();
        await this.write();
      }
    } catch {
      // the store is away: the heartbeat says so
    }
    if (this.#isClosed) return;
    this.#cancel = wallClock.schedule(wallClock.nowMs() + EVERY_MS, () => {
      void this.exchange();
      void this.#endIdle();
    });
  }

  /** Takes the worlds that are gone off the list, and ends the copies that this server has of them. */
  async #endGone(worldIds: readonly string[]): Promise<void> {
    const { store, endOutdated } = this.#options;
    const gone: string[] = [];
    const look = async (worldId: string): Promise<void> => {
      const epoch = await store
        .reliably(() => store.client.hget(keysOf(worldId).head, 'epoch'))
        .catch(() => undefined);
      if (epoch === undefined) return void this.#written.add(worldId); // its node is away: asked again next time
      if (epoch === null) gone.push(worldId);
      await endOutdated(worldId, epoch);
    };
    await Promise.all(worldIds.map(look));
    await this.#remove(gone);
  }

  async #remove(worldIds: readonly string[]): Promise<void> {
    const { client } = this.#options.store;
    if (worldIds.length === 0) return;
    await client.zrem(USED, ...worldIds);
    for (const key of [HELD, ROWS]) await client.hdel(key, ...worldIds);
  }

  /** Ends the worlds that were idle for too long. Others that find them as well leave them alone for a while. */
  async #endIdle(): Promise<void> {
    const { store, wallClock, idleMs, endIdle } = this.#options;
    const { client } = store;
    if (this.#isEnding) return; // many take longer than it is to the next time
    this.#isEnding = true;
    try {
      const latestUseMs = wallClock.nowMs() - idleMs;
      for (const worldId of await client.zrangebyscore(USED, '-inf', latestUseMs, 'LIMIT', 0, MOST_AT_ONCE)) {
        if (this.#isClosed || store.isAway) return;
        const againMs = latestUseMs + AGAIN_AFTER_MS; // where this server ends, or the world does not
        if ((await client.zadd(USED, 'XX', 'GT', 'CH', againMs, worldId)) === 1) await endIdle(worldId);
      }
    } catch {
      // the store is away: the heartbeat says so
    } finally {
      this.#isEnding = false;
    }
  }

  async #read(): Promise<void> {
    const { store, knownIds } = this.#options;
    const { client } = store;
    const worlds = await client.zcard(USED);
    const listed = await client.hgetall(HELD);
    const known = knownIds();
    for (const worldId of known) if (listed[worldId] === undefined) this.touch(worldId); // gone, or not written down yet
    let [records, attempts, documentBytes] = [0, 0, 0];
    for (const [worldId, size] of Object.entries(listed)) {
      if (known.has(worldId)) continue;
      const ofWorld = size.split(' ').map(Number);
      records += ofWorld[0] ?? 0;
      attempts += ofWorld[1] ?? 0;
      documentBytes += ofWorld[2] ?? 0;
    }
    this.elsewhere = { records, attempts, documentBytes, worlds };
  }
}

import type { WallClock } from '../wall-clock.ts';
import type { WorldRow } from '../world-log.ts';
import { NOTHING, type WorldSize } from '../totals.ts';
import { KEY_PREFIX, keysOf } from './scripts/scripts.ts';
import type { StoreConnection } from './store-connection.ts';

/** What a server that uses a world records about it. */
export interface DirectoryEntry {
  readonly size: WorldSize;
  readonly row: WorldRow;
  /** The name of the latest command in it. */
  readonly latestCommand: string;
  /** The wall time at which the next step is due; null when none is. */
  readonly dueAtMs: number | null;
}

/** The part of an entry that the list of worlds reads. */
type StoredRow = Pick<DirectoryEntry, 'row' | 'latestCommand' | 'dueAtMs'>;

const sizeText = ({ records, attempts, documentBytes }: WorldSize): string =>
  `${records} ${attempts} ${documentBytes}`;
function sizeFrom(text: string): WorldSize {
  const [records = 0, attempts = 0, documentBytes = 0] = text.split(' ').map(Number);
  return { records, attempts, documentBytes };
}
const plus = (one: WorldSize, other: WorldSize, times = 1): WorldSize => ({
  records: one.records + times * other.records,
  attempts: one.attempts + times * other.attempts,
  documentBytes: one.documentBytes + times * other.documentBytes,
});
const rowText = ({ row, latestCommand, dueAtMs }: StoredRow): string =>
  JSON.stringify({ row, latestCommand, dueAtMs });

interface Options {
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly idleMs: number;
  /** The worlds that this server has copies of. It counts these itself, since it knows them better. */
  readonly knownIds: () => ReadonlySet<string>;
  /** Ends a world that was idle for too long, unless somebody has used it meanwhile. */
  readonly endIdle: (worldId: string) => Promise<void>;
  /** What to record about a world; undefined when this server no longer knows it. */
  readonly entryOf: (worldId: string) => DirectoryEntry | undefined;
  /** Ends this server's copy of a world, if its epoch differs. @param epoch the epoch in the store; null for no world */
  readonly endOutdated: (worldId: string, epoch: string | null) => Promise<void>;
}

const EVERY_MS = 1000;
const MOST_AT_ONCE = 1000;
const AGAIN_AFTER_MS = 5000;
const USED = `${KEY_PREFIX}worlds`;
const HELD = `${KEY_PREFIX}held`;
const ROWS = `${KEY_PREFIX}rows`;

/**
 * The worlds of all servers: when each was last used, how much it holds, and what a list shows about it. It is written and
 * read once a second, so the caps over all worlds are approximate.
 */
export class WorldDirectory {
  readonly #options: Options;
  readonly #changed = new Set<string>();
  /** The worlds of the last write: one that was dropped between the check of its head and the write is removed at the next. */
  readonly #written = new Set<string>();
  #writing = Promise.resolve();
  /** What each world holds of which this server has no copy. */
  readonly #others = new Map<string, WorldSize>();
  /** Their sum, and the number of all worlds. */
  elsewhere: WorldSize & { readonly worlds: number } = { ...NOTHING, worlds: 0 };
  #cancel: () => void = () => undefined;
  #isEnding = false;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Marks a world that was used, or has changed. */
  touch(worldId: string): void {
    this.#changed.add(worldId);
  }

  /** This server has a copy of a world from now on, and counts it itself. */
  found(worldId: string): void {
    const size = this.#others.get(worldId);
    if (size === undefined) return;
    this.#others.delete(worldId);
    this.elsewhere = { ...this.elsewhere, ...plus(this.elsewhere, size, -1) };
  }

  /** The ids of all worlds, the one that was idle longest first. */
  async ids(): Promise<readonly string[]> {
    const { store } = this.#options;
    await store.reliably(() => this.write());
    return store.reliably(() => store.client.zrange(USED, 0, -1));
  }

  /** What a list shows of some worlds: null for one that is gone, undefined when the record is out of date. */
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

  /** When a world was last used, in ms of wall time; null for a world that is not listed. */
  async usedAtMs(worldId: string): Promise<number | null> {
    const { store } = this.#options;
    const score = await store.reliably(() => store.client.zscore(USED, worldId));
    return score === null ? null : Number(score);
  }

  /** @returns the number of all worlds */
  async add(worldId: string, usedAtMs: number): Promise<number> {
    const { store } = this.#options;
    await store.reliably(() => store.client.zadd(USED, usedAtMs, worldId), USED);
    return store.reliably(() => store.client.zcard(USED), USED);
  }

  async remove(worldId: string): Promise<void> {
    await this.#options.store.reliably(() => this.#remove([worldId]));
  }

  /** Writes what this server knows, except about worlds that are gone. @throws Error when the store cannot be used */
  write(): Promise<void> {
    // one write after the other: a second one would not wait for what the first still writes
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
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
      await client.hset(HELD, ...entries.flatMap(({ row, size }) => [row.id, sizeText(size)]));
      await client.hset(ROWS, ...entries.flatMap((entry) => [entry.row.id, rowText(entry)]));
      // last here, first in `#remove`: a world that is counted but not listed would never be looked at again
      await client.zadd(USED, 'GT', ...entries.flatMap(({ row }) => [row.usedAtMs, row.id]));
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

  /** Reads what the others know, writes what this server knows, and repeats that in a second. */
  async exchange(): Promise<void> {
    const { wallClock, store } = this.#options;
    try {
      if (!store.isAway) {
        await this.#read();
        await this.write();
      }
    } catch {
      // the store is unavailable: the heartbeat reports it
    }
    if (this.#isClosed) return;
    this.#cancel = wallClock.schedule(wallClock.nowMs() + EVERY_MS, () => {
      void this.exchange();
      void this.#endIdle();
    });
  }

  /** Removes the worlds that are gone from the list, and ends this server's copies of them. */
  async #endGone(worldIds: readonly string[]): Promise<void> {
    const { store, endOutdated } = this.#options;
    const gone: string[] = [];
    const look = async (worldId: string): Promise<void> => {
      const epoch = await store
        .reliably(() => store.client.hget(keysOf(worldId).head, 'epoch'))
        .catch(() => undefined);
      if (epoch === undefined) return void this.#written.add(worldId); // its node is unavailable: checked again next time
      if (epoch === null) gone.push(worldId);
      await endOutdated(worldId, epoch);
    };
    await Promise.all(worldIds.map(look));
    await this.#remove(gone);
  }

  async #remove(worldIds: readonly string[]): Promise<void> {
    const { client } = this.#options.store;
    if (worldIds.length === 0) return;
    const gone = [client.zrem(USED, ...worldIds)]; // in one write: a server that dies removes them from all three or from none
    for (const key of [HELD, ROWS]) gone.push(client.hdel(key, ...worldIds));
    await Promise.all(gone);
  }

  /** Ends the worlds that were idle for too long. Other servers that find them too leave them alone for a while. */
  async #endIdle(): Promise<void> {
    const { store, wallClock, idleMs, endIdle } = this.#options;
    const { client } = store;
    if (this.#isEnding) return; // many worlds take longer than the interval
    this.#isEnding = true;
    try {
      const latestUseMs = wallClock.nowMs() - idleMs;
      for (const worldId of await client.zrangebyscore(USED, '-inf', latestUseMs, 'LIMIT', 0, MOST_AT_ONCE)) {
        if (this.#isClosed || store.isAway) return;
        const againMs = latestUseMs + AGAIN_AFTER_MS; // in case this server dies, or the world is not ended
        if ((await client.zadd(USED, 'XX', 'GT', 'CH', againMs, worldId)) === 1) await endIdle(worldId);
      }
    } catch {
      // the store is unavailable: the heartbeat reports it
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
    for (const worldId of known) if (listed[worldId] === undefined) this.touch(worldId); // gone, or not recorded yet
    let held = NOTHING;
    this.#others.clear();
    for (const [worldId, text] of Object.entries(listed)) {
      if (known.has(worldId)) continue;
      const size = sizeFrom(text);
      this.#others.set(worldId, size);
      held = plus(held, size);
    }
    this.elsewhere = { ...held, worlds };
  }
}

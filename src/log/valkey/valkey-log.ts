import { Refusal } from '../../contract/errors.ts';
import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { Command } from '../../world/commands.ts';
import { nextDueMsOf } from '../../world/ledger.ts';
import { wallTimeMs, type WorldState } from '../../world/state.ts';
import { demandRoom, sizeOf, Totals } from '../totals.ts';
import type { NoteLimits, Notes } from '../notes.ts';
import {
  readUnlessDropped,
  worldRow,
  type Draft,
  type DropReason,
  type LogOptions,
  type WorldLog,
  type WorldRow,
} from '../world-log.ts';
import { LocalWorlds, type LocalWorld } from './local-worlds.ts';
import type { Room } from './log-entry.ts';
import { keysOf } from './scripts/scripts.ts';
import { ServerScenario } from './server-scenario.ts';
import { StoreConnection, type StoreObserver } from './store-connection.ts';
import { StoredNotes } from './stored/stored-notes.ts';
import { ValkeyWorld, type WorldParts } from './valkey-world.ts';
import { WorldDirectory, type DirectoryEntry } from './world-directory.ts';

export interface ValkeyLogOptions extends LogOptions {
  /** `redis://`, `rediss://` or `redis+cluster://`. */
  readonly url: string;
  /** Distinguishes this server from all others that ever use the store. */
  readonly server: string;
  readonly storeObserver: StoreObserver;
  /** How much the journals of all worlds may hold. */
  readonly journalBytes: number;
  /** Drops a world without a request to drop it: it was idle, or others needed its place. `drop` returns whether it did. */
  readonly losing?: (worldId: string, drop: () => Promise<boolean>) => Promise<unknown>;
}

/** The worlds of a store that many servers share. What this server knows of them is a bounded cache. */
export class ValkeyLog implements WorldLog {
  readonly maxWorlds: number;
  /** Also for the server's own rate limit. */
  readonly store: StoreConnection;
  readonly #options: ValkeyLogOptions;
  readonly #directory: WorldDirectory;
  readonly #totals: Totals;
  readonly #parts: WorldParts;
  readonly #local: LocalWorlds;
  readonly #opening = new Map<string, Promise<LocalWorld | null>>();
  readonly #scenario: ServerScenario;
  #numbers = 0;
  #isClosed = false;

  private constructor(options: ValkeyLogOptions) {
    const { wallClock, idleMs, compiler, observer } = options;
    this.#options = options;
    this.maxWorlds = options.maxWorlds;
    this.#totals = new Totals(options);
    this.#local = new LocalWorlds(this.#totals, wallClock);
    this.#scenario = new ServerScenario(options.activeSource);
    this.store = new StoreConnection({ ...options, observer: options.storeObserver });
    this.#directory = new WorldDirectory({
      store: this.store,
      wallClock,
      idleMs,
      knownIds: () => this.#local.ids,
      endIdle: (worldId) => this.#lose(worldId, 'idle', idleMs),
      entryOf: (worldId) => this.#entryOf(worldId),
      endOutdated: (worldId, epoch) => this.#endOutdated(worldId, epoch),
    });
    this.#parts = {
      store: this.store,
      compiler,
      wallClock,
      observer,
      idleMs,
      journalLimits: () => this.#journalLimits,
      nextNumber: () => (this.#numbers += 1),
      roomFor: (world, command) => this.#roomFor(world, command),
      changed: (world) => {
        this.#local.count(world);
        this.#directory.touch(world.id);
      },
      ended: (world) => {
        const local = this.#local.get(world.id);
        if (local?.world === world) this.#local.forget(local);
      },
      successorOf: (state) => this.#scenario.successorOf(state),
    };
  }

  /** Connects to the store, which may also become reachable later. */
  static async open(options: ValkeyLogOptions): Promise<ValkeyLog> {
    const log = new ValkeyLog(options);
    await log.store.start();
    await log.#scenario.compare(log.store);
    await log.#directory.exchange();
    return log;
  }

  get size(): number {
    return Math.max(this.#local.size, this.#directory.elsewhere.worlds);
  }

  get recordsHeld(): number {
    return this.#totals.records + this.#directory.elsewhere.records;
  }

  get uses(): number {
    return this.#totals.uses;
  }

  async use(worldId: string, begins = false): Promise<ValkeyWorld> {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.#totals.uses += 1;
    for (;;) {
      const local = await this.#localWorld(worldId, this.#options.activeSource());
      if (local === null) continue; // it was dropped while it was opened: a new one takes its place
      const { world } = local;
      this.#local.use(local);
      this.#directory.found(worldId);
      this.#directory.touch(worldId);
      try {
        await world.catchUp(begins);
        return world;
      } catch (error) {
        if (!world.isClosed || this.#isClosed) throw error;
        this.#local.forget(local); // it is gone from the store: a new one takes its place
      }
    }
  }

  known(worldId: string): Readonly<WorldState> | undefined {
    return this.#local.get(worldId)?.world.latest;
  }

  ids(): Promise<readonly string[]> {
    return this.#directory.ids();
  }

  async rows(worldIds: readonly string[]): Promise<readonly WorldRow[]> {
    const rows: WorldRow[] = [];
    for (const [nth, known] of (await this.#directory.rows(worldIds)).entries()) {
      const worldId = worldIds[nth]!;
      const row = known === undefined ? await this.visit(worldId, (world) => this.#newRow(world)) : known;
      if (row === null) await this.#directory.remove(worldId);
      else rows.push(row);
    }
    return rows;
  }

  async visit<T>(worldId: string, look: (world: ValkeyWorld) => Promise<T>): Promise<T | null> {
    const known = this.#localWorld(worldId, null);
    const local = known instanceof Promise ? await known : known; // a known one could be forgotten during an await
    if (local === null) return null;
    local.visitors += 1;
    try {
      return await look(local.world);
    } finally {
      local.visitors -= 1;
      if (local.isVisitOnly && local.visitors === 0) this.#local.forget(local);
    }
  }

  drop(worldId: string): Promise<boolean> {
    return this.#drop(worldId, 'admin');
  }

  notes(kind: string, limits: NoteLimits): Notes {
    return new StoredNotes(this.store, kind, limits);
  }

  draft(): Draft {
    return this.#totals.draft();
  }

  release(): void {
    for (const { world } of this.#local.values()) world.release();
  }

  /** Ends all worlds on this server, once everything that was sent is in the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#directory.close();
    await Promise.allSettled(this.#local.values().map(({ world }) => world.flush()));
    for (const { world } of this.#local.values()) world.close('stop');
    this.#local.clear();
    this.store.close();
  }

  get #journalLimits(): { items: number; bytes: number } {
    const { journalLimits, journalBytes } = this.#options;
    const share = Math.floor(journalBytes / Math.max(1, this.size));
    return { items: journalLimits.items, bytes: Math.min(journalLimits.bytes, share) };
  }

  /** The world on this server. @param source the scenario of a new one; null to make none */
  #localWorld(worldId: string, source: ScenarioSource | null): Promise<LocalWorld | null> | LocalWorld {
    const known = this.#local.get(worldId);
    if (known !== undefined) return known;
    const opening = this.#opening.get(worldId);
    if (opening !== undefined && source === null) return opening;
    const opened = (opening ?? Promise.resolve(null))
      .then((local) => local ?? this.#open(worldId, source))
      .finally(() => {
        if (this.#opening.get(worldId) === opened) this.#opening.delete(worldId);
      });
    this.#opening.set(worldId, opened);
    return opened;
  }

  async #open(worldId: string, source: ScenarioSource | null): Promise<LocalWorld | null> {
    const world = new ValkeyWorld(worldId, this.#parts);
    const isThere = await world.open(source).catch((error: unknown) => {
      if (!world.isClosed) throw error;
      return false; // it was dropped meanwhile
    });
    if (!isThere) return null;
    const nowMs = this.#options.wallClock.nowMs();
    const isVisitOnly = source === null;
    const usedAtMs = isVisitOnly ? await this.#directory.usedAtMs(worldId) : nowMs;
    const local = this.#local.add(world, usedAtMs ?? nowMs, isVisitOnly);
    if (world.isNew) await this.#list(worldId, nowMs);
    if (!isVisitOnly) this.#local.makeRoom();
    return local;
  }

  /** Lists a new world, and drops the idlest one if there are too many. */
  async #list(worldId: string, nowMs: number): Promise<void> {
    try {
      const worlds = await this.#directory.add(worldId, nowMs);
      const idlest = worlds > this.maxWorlds ? await this.#directory.idlest() : undefined;
      if (idlest !== undefined && idlest !== worldId) await this.#lose(idlest, 'cap');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // the list is on a node of a cluster that is away: the world is listed once that is back
    }
  }

  /** Drops a world without a request to drop it. @param idleMs only if it was not used for this long */
  async #lose(worldId: string, reason: DropReason, idleMs?: number): Promise<void> {
    const { losing, observer } = this.#options;
    const drop = (): Promise<boolean> => this.#drop(worldId, reason, idleMs);
    try {
      await (losing === undefined ? drop() : losing(worldId, drop));
    } catch (error) {
      if (!(error instanceof Refusal)) observer.failed(worldId, error); // another server may drop it, or the store is unavailable
    }
  }

  async #drop(worldId: string, reason: DropReason, idleMs?: number): Promise<boolean> {
    const { head, log, journal, events, snapshot, dropped, news } = keysOf(worldId);
    const args: (string | number)[] = [head, log, journal, events, snapshot, dropped];
    args.push(`${dropped}:${this.store.server}`, reason, news, (this.#numbers += 1));
    if (idleMs !== undefined) args.push(idleMs);
    const local = this.#local.get(worldId); // the present copy: a new one may be opened before the reply comes
    const isDropped = (await this.store.reliably(() => this.store.script<number>('drop', ...args))) === 1;
    const isThere = !isDropped && (await this.store.reliably(() => this.store.client.exists(head))) === 1;
    if (isThere) return false; // used meanwhile
    if (local !== undefined) this.#local.forget(local, reason);
    await this.#directory.remove(worldId);
    if (isDropped) this.#options.observer.dropped(worldId, reason);
    return isDropped;
  }

  /** Records the current state of a world for the list. */
  async #newRow(world: ValkeyWorld): Promise<WorldRow | null> {
    if ((await readUnlessDropped(world, () => true)) === null) return null;
    await this.store.reliably(() => this.#directory.write());
    return this.#entryOf(world.id)?.row ?? null;
  }

  async #endOutdated(worldId: string, epoch: string | null): Promise<void> {
    const world = this.#local.get(worldId)?.world;
    if (world === undefined || world.epoch === epoch) return;
    await readUnlessDropped(world, () => null); // finds out why it was dropped, and ends
  }

  #entryOf(worldId: string): DirectoryEntry | undefined {
    const local = this.#local.get(worldId);
    if (local === undefined || local.world.isClosed) return undefined;
    const { world, usedAtMs, size } = local;
    const { latest, latestCommand, openedAtMs } = world;
    const dueMs = nextDueMsOf(latest);
    const dueAtMs = dueMs === null ? null : wallTimeMs(latest.clock, dueMs);
    return { row: worldRow(latest, openedAtMs, usedAtMs), size, latestCommand, dueAtMs };
  }

  #roomFor(world: ValkeyWorld, command: Command): Room {
    const { recordsFree, attemptsFree, documentBytesFree, limits } = this.#totals;
    const { maxRecords } = limits;
    const size = sizeOf(world.latest);
    const { elsewhere } = this.#directory;
    const records = size.records + recordsFree - elsewhere.records;
    const attempts = size.attempts + attemptsFree - elsewhere.attempts;
    const documentBytes = size.documentBytes + documentBytesFree - elsewhere.documentBytes;
    const room = { maxRecords, records, attempts, documentBytes };
    if (command.kind === 'restore') demandRoom(sizeOf(command.state), room, maxRecords);
    return room;
  }
}

import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import type { Command } from '../../world/commands.ts';
import { full, noRoomForDocument, type WorldState } from '../../world/state.ts';
import { heldBy, NOTHING, Totals, type Held, type TotalLimits } from '../totals.ts';
import type { WallClock } from '../wall-clock.ts';
import type { Draft, DropReason, WorldLog, WorldObserver, WorldRow } from '../world-log.ts';
import type { Room } from './log-entry.ts';
import { KEY_PREFIX, keysOf } from './scripts/scripts.ts';
import { StoreConnection, type StoreObserver } from './store-connection.ts';
import { ValkeyWorld, type WorldParts } from './valkey-world.ts';
import { WorldDirectory } from './world-directory.ts';

export interface ValkeyLogOptions extends TotalLimits {
  /** `redis://`, `rediss://` or `redis+cluster://`. */
  readonly url: string;
  /** Tells this server from all others that ever use the store. */
  readonly server: string;
  readonly storeObserver: StoreObserver;
  readonly compiler: ScenarioCompiler;
  /** The scenario of every world that has not chosen another. A reload of its file changes it. */
  readonly activeSource: () => ScenarioSource;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  readonly maxWorlds: number;
  readonly idleMs: number;
  /** How much the journal of one world, and those of all, may hold. */
  readonly journalLimits: { readonly items: number; readonly bytes: number };
  readonly journalBytes: number;
}

interface Resident {
  readonly world: ValkeyWorld;
  usedAtMs: number;
  held: Held;
}

const MAX_RESIDENTS = 10_000;
/** Only a world that was not used for so long is forgotten: a request may be on its way to it. */
const FORGOTTEN_AFTER_MS = 60_000;
const LISTED_AT_ONCE = 16;

/** The worlds of a store that many servers share. What this server knows of them is a bounded cache. */
export class ValkeyLog implements WorldLog {
  readonly maxWorlds: number;
  readonly #options: ValkeyLogOptions;
  readonly #store: StoreConnection;
  readonly #directory: WorldDirectory;
  readonly #totals: Totals;
  readonly #parts: WorldParts;
  /** By id, in order of last use, the one that was idle longest first. */
  readonly #residents = new Map<string, Resident>();
  readonly #opening = new Map<string, Promise<Resident | null>>();
  /** The scenarios that this server had before, by their text. */
  readonly #formerSources = new Set<string>();
  #activeSource: ScenarioSource;
  #numbers = 0;
  #isClosed = false;

  private constructor(options: ValkeyLogOptions) {
    const { wallClock, idleMs, compiler, observer } = options;
    this.#options = options;
    this.maxWorlds = options.maxWorlds;
    this.#totals = new Totals(options);
    this.#activeSource = options.activeSource();
    this.#store = new StoreConnection({ ...options, observer: options.storeObserver });
    const isKnown = (worldId: string): boolean => this.#residents.has(worldId);
    this.#directory = new WorldDirectory({ store: this.#store, wallClock, idleMs, isKnown });
    this.#parts = {
      store: this.#store,
      compiler,
      wallClock,
      observer,
      idleMs,
      journalLimits: () => this.#journalLimits,
      nextNumber: () => (this.#numbers += 1),
      roomFor: (world, command) => this.#roomFor(world, command),
      changed: (world) => this.#countKnown(world.id),
      successorOf: (state) => this.#successorOf(state),
    };
  }

  /** Connects to the store. One that cannot be reached now may be reached later. */
  static async open(options: ValkeyLogOptions): Promise<ValkeyLog> {
    const log = new ValkeyLog(options);
    await log.#store.start();
    await log.#compareSettings();
    await log.#directory.exchange();
    return log;
  }

  /** Says so where the server that started before this one had another scenario or other settings: worlds keep theirs. */
  async #compareSettings(): Promise<void> {
    const { activeSource, storeObserver } = this.#options;
    const text = JSON.stringify(activeSource());
    try {
      const before = await this.#store.client.set(`${KEY_PREFIX}scenario`, text, 'GET');
      if (before === null || before === text) return;
      storeObserver.warning(
        'another server had another scenario or other settings: each world stands on those of the server that opened or reset it',
      );
    } catch {
      // the store is away, and its worlds will say what they stand on
    }
  }

  /** The client, for the server's own rate limit. */
  get store(): StoreConnection {
    return this.#store;
  }

  get size(): number {
    return Math.max(this.#residents.size, this.#directory.elsewhere.worlds);
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
      const resident = (await this.#resident(worldId, this.#options.activeSource()))!;
      const { world } = resident;
      resident.usedAtMs = this.#options.wallClock.nowMs();
      this.#directory.touch(worldId, { ...resident.held, usedAtMs: resident.usedAtMs });
      this.#residents.delete(worldId);
      this.#residents.set(worldId, resident);
      try {
        await world.catchUp(begins);
        return world;
      } catch (error) {
        if (!world.isClosed || this.#isClosed) throw error;
        this.#forget(worldId, resident); // it is gone from the store: a new one takes its place
      }
    }
  }

  known(worldId: string): Readonly<WorldState> | undefined {
    return this.#residents.get(worldId)?.world.latest;
  }

  async list(): Promise<readonly WorldRow[]> {
    const rows: WorldRow[] = [];
    const worlds = await this.#directory.list();
    for (let from = 0; from < worlds.length; from += LISTED_AT_ONCE) {
      const opened = worlds.slice(from, from + LISTED_AT_ONCE).map(async ([worldId, usedAtMs]) => {
        const resident = await this.#resident(worldId, null);
        if (resident === null) await this.#directory.remove(worldId);
        else rows.push({ world: resident.world, openedAtMs: resident.world.openedAtMs, usedAtMs });
      });
      await Promise.all(opened);
    }
    return rows.toSorted((a, b) => a.usedAtMs - b.usedAtMs);
  }

  async drop(worldId: string): Promise<boolean> {
    return this.#drop(worldId, 'admin');
  }

  draft(): Draft {
    return this.#totals.draft();
  }

  release(): void {
    for (const { world } of this.#residents.values()) world.release();
  }

  /** Ends all worlds on this server, once what was sent is in the store. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#directory.close();
    await Promise.allSettled([...this.#residents.values()].map(({ world }) => world.flush()));
    for (const { world } of this.#residents.values()) world.close('stop');
    this.#residents.clear();
    this.#store.close();
  }

  get #journalLimits(): { items: number; bytes: number } {
    const { journalLimits, journalBytes } = this.#options;
    const share = Math.floor(journalBytes / Math.max(1, this.size));
    return { items: journalLimits.items, bytes: Math.min(journalLimits.bytes, share) };
  }

  /** The world on this server. @param source what a new one stands on; null to make none */
  #resident(worldId: string, source: ScenarioSource | null): Promise<Resident | null> | Resident {
    const known = this.#residents.get(worldId);
    if (known !== undefined) return known;
    const opening = this.#opening.get(worldId);
    if (opening !== undefined && source === null) return opening;
    const opened = (opening ?? Promise.resolve(null))
      .then((resident) => resident ?? this.#open(worldId, source))
      .finally(() => {
        if (this.#opening.get(worldId) === opened) this.#opening.delete(worldId);
      });
    this.#opening.set(worldId, opened);
    return opened;
  }

  async #open(worldId: string, source: ScenarioSource | null): Promise<Resident | null> {
    const { wallClock, maxWorlds } = this.#options;
    const world = new ValkeyWorld(worldId, this.#parts);
    if (!(await world.open(source))) return null;
    const resident: Resident = { world, usedAtMs: wallClock.nowMs(), held: NOTHING };
    this.#residents.set(worldId, resident);
    this.#count(resident);
    if (world.isNew) {
      const worlds = await this.#directory.add(worldId, resident.usedAtMs);
      const idlest = worlds > maxWorlds ? await this.#directory.idlest() : undefined;
      if (idlest !== undefined && idlest !== worldId) await this.#drop(idlest, 'cap');
    }
    this.#makeRoom();
    return resident;
  }

  async #drop(worldId: string, reason: DropReason): Promise<boolean> {
    const { head, log, journal, order, events, snapshot, dropped, news } = keysOf(worldId);
    const existed = await this.#store.reliably(() =>
      this.#store.script<number>(
        ...(['drop', head, log, journal, order, events, snapshot, dropped, reason, news] as const),
      ),
    );
    const resident = this.#residents.get(worldId);
    if (resident !== undefined) this.#forget(worldId, resident, reason);
    await this.#directory.remove(worldId);
    if (existed === 1) this.#options.observer.dropped(worldId, reason);
    return existed === 1;
  }

  /** @param reason why it has ended; undefined when only this server forgets it */
  #forget(worldId: string, resident: Resident, reason?: DropReason): void {
    if (this.#residents.get(worldId) === resident) this.#residents.delete(worldId);
    this.#hold(resident, NOTHING);
    if (reason === undefined) resident.world.forget();
    else resident.world.close(reason);
  }

  /** Forgets the worlds that were idle longest, past what this server may know. */
  #makeRoom(): void {
    const { wallClock, maxRecords } = this.#options;
    const latestUseMs = wallClock.nowMs() - FORGOTTEN_AFTER_MS;
    for (const [worldId, resident] of this.#residents) {
      const isTooMuch = this.#residents.size > MAX_RESIDENTS || this.#totals.records > maxRecords;
      if (!isTooMuch || resident.usedAtMs > latestUseMs) return;
      if (resident.world.isIdle) this.#forget(worldId, resident);
    }
  }

  #hold(resident: Resident, held: Held): void {
    this.#totals.replace(resident.held, held);
    resident.held = held;
  }

  #countKnown(worldId: string): void {
    const resident = this.#residents.get(worldId);
    if (resident !== undefined) this.#count(resident);
  }

  /** Counts what a world holds, as far as this server knows it. */
  #count(resident: Resident): void {
    const { latest, id } = resident.world;
    const held = heldBy(latest);
    this.#hold(resident, held);
    this.#directory.touch(id, { ...held, usedAtMs: resident.usedAtMs });
  }

  #roomFor(world: ValkeyWorld, command: Command): Room {
    const { recordsFree, attemptsFree, documentBytesFree, limits } = this.#totals;
    const { maxRecords } = limits;
    const held = heldBy(world.latest);
    const { elsewhere } = this.#directory;
    const records = held.records + recordsFree - elsewhere.records;
    const attempts = held.attempts + attemptsFree - elsewhere.attempts;
    const documentBytes = held.documentBytes + documentBytesFree - elsewhere.documentBytes;
    if (command.kind === 'restore') {
      const restored = heldBy(command.state);
      if (restored.records > records) throw full(maxRecords);
      if (restored.documentBytes > documentBytes) throw noRoomForDocument();
    }
    return { maxRecords, records, attempts, documentBytes };
  }

  #successorOf({ scenario }: WorldState): ScenarioSource | null {
    const active = this.#options.activeSource();
    if (active !== this.#activeSource) {
      this.#formerSources.add(JSON.stringify(this.#activeSource));
      this.#formerSources.delete(JSON.stringify(active));
      this.#activeSource = active;
    }
    if (scenario.isChosen || this.#formerSources.size === 0) return null;
    return this.#formerSources.has(JSON.stringify(scenario.source)) ? active : null;
  }
}

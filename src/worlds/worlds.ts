import type { WorldsResponse } from '../contract/control-responses.ts';
import type { ScenarioCompiler, ScenarioSource } from '../scenario/scenario.ts';
import { openWorld } from '../world/opening.ts';
import type { WorldState } from '../world/state-shape.ts';
import { Capacity, NOTHING, type Limits, type WorldSize } from './capacity.ts';
import { readUnlessDropped } from './dropped.ts';
import type { Evictions } from './evictions.ts';
import type { DropReason, Opened, OrderOf, Room, WorldObserver } from './order.ts';
import { pageOf, rowOf, type WorldsPage } from './rows.ts';
import type { WallClock } from './wall-clock.ts';
import { inMemory, World, type WorldParts } from './world.ts';

/** The worlds of a store that servers share: a function that opens one, and the list of all. */
export interface SharedWorlds {
  nowMs(): number;
  /** @param source the scenario of a new world; null to make none @returns null when there is none @throws Refusal STORE_UNAVAILABLE */
  open(worldId: string, source: ScenarioSource | null): Promise<(Opened & { orderOf: OrderOf }) | null>;
  /** @returns whether there was one */
  drop(worldId: string): Promise<boolean>;
  ids(): Promise<readonly string[]>;
  /** Those that were used after a time: as many as given, and those that were used in the same millisecond as the last of them. */
  page(afterMs: number, count: number): Promise<WorldsPage>;
  /** When a world was last used, in ms of wall time; null for one that is not listed. */
  usedAtMs(worldId: string): Promise<number | null>;
  /** Takes a world that is gone off the list. */
  unlist(worldId: string): Promise<void>;
  /** Notes when worlds were used. */
  used(worlds: readonly World[]): Promise<void>;
  close(): void;
}

export interface WorldsOptions extends Limits {
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  /** Null where this process has all worlds. */
  readonly store: SharedWorlds | null;
  /** The scenario of every world that has not chosen another. A reload of its file changes it. */
  readonly activeSource: () => ScenarioSource;
  readonly observer: WorldObserver;
  /** One more drops the world that was idle longest; in a store, this server's copy of it. */
  readonly maxWorlds: number;
  /** A world without a request for this long, in ms of wall time, is dropped. */
  readonly idleMs: number;
  readonly evictions?: Evictions;
}

/** A world that a server knows. */
interface Known {
  readonly world: World;
  size: WorldSize;
  /** Its last use in the list of a store. */
  notedAtMs: number;
  /** Whether it was only opened for callers that look at it: it is forgotten after the last one. */
  isVisitOnly: boolean;
}

const FREED = 1 / 64; // of what all may remember, when they have to forget
const NOTED_EVERY_MS = 1000;
const ROWS_AT_ONCE = 50;

/** The worlds of a server, in the order of their latest use: all, or copies of those in a store that servers share. */
export class Worlds {
  readonly maxWorlds: number;
  /** Increases with every use of any world and every command: while it stays the same, nothing has changed. */
  uses = 0;
  readonly #options: WorldsOptions;
  readonly #parts: WorldParts;
  readonly #inMemory: OrderOf;
  readonly #capacity: Capacity;
  /** The one that was idle longest first. */
  readonly #byId = new Map<string, Known>();
  /** The last of them. */
  #latest: Known | undefined;
  readonly #opening = new Map<string, Promise<Known | null>>();
  #latestSource: ScenarioSource;
  /** The scenarios that this server had before, as JSON. */
  readonly #formerSources = new Set<string>();
  #latestEpoch = 0;
  #cancelTimer: (() => void) | null = null;
  #isForgetting = false;
  #isClosed = false;

  constructor(options: WorldsOptions) {
    const { compiler, wallClock, observer } = options;
    this.#options = options;
    this.maxWorlds = options.maxWorlds;
    this.#capacity = new Capacity(options);
    this.#latestSource = options.activeSource();
    this.#inMemory = inMemory(wallClock);
    this.#parts = {
      compiler,
      wallClock,
      observer,
      successorOf: (state) => this.#successorOf(state),
      roomFor: (world, command) => this.#capacity.roomFor(this.#sizeOf(world), command),
      changed: (world, isUse) => {
        if (isUse) this.uses += 1;
        this.#count(world);
      },
      ended: (world, reason) => this.#forget(world, reason),
      lost: (world) => {
        observer.lost(world.id);
        options.evictions?.lost(world);
      },
    };
  }

  /** How many worlds this server has in memory. */
  get size(): number {
    return this.#byId.size;
  }

  /** How many transactions they hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
  get transactions(): number {
    return this.#capacity.transactions;
  }

  /** The world of this id, if this server has it in memory. Not a use. */
  known(worldId: string): World | undefined {
    return this.#byId.get(worldId)?.world;
  }

  /** The world of this id, opened at its first use: in memory before this returns. Counts as a use. @throws Refusal STORE_UNAVAILABLE */
  async use(worldId: string): Promise<World> {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.uses += 1;
    const { store, activeSource } = this.#options;
    for (;;) {
      const known =
        this.#byId.get(worldId) ??
        (store === null ? this.#make(worldId) : await this.#open(worldId, activeSource()));
      const isGone = known === null || known.world.isClosed; // dropped meanwhile
      if (isGone && !this.#isClosed) continue;
      return this.#used(known!);
    }
  }

  /** The ids of all worlds, the one that was idle longest first. */
  async ids(): Promise<readonly string[]> {
    const { store } = this.#options;
    if (store === null) return [...this.#byId.keys()];
    await this.#noteUses(store);
    return store.ids();
  }

  /** What a page of the list shows, without worlds that are gone. Not a use. @param afterMs only those used after that time */
  async page(afterMs: number, count: number): Promise<WorldsResponse> {
    const { store, wallClock } = this.#options;
    if (store !== null) await this.#noteUses(store);
    const { ids, next } =
      store === null ? pageOf(this.#all(), afterMs, count) : await store.page(afterMs, count);
    const rows: Awaited<ReturnType<typeof rowOf>>[] = [];
    for (let from = 0; from < ids.length; from += ROWS_AT_ONCE) {
      if (from > 0) await wallClock.yieldToEventLoop();
      const some = ids.slice(from, from + ROWS_AT_ONCE);
      rows.push(...(await Promise.all(some.map((worldId) => this.#row(worldId)))));
    }
    return { worlds: rows.filter((row) => row !== null), next };
  }

  /** Looks at a world without opening it; not a use. @param look called again if another server remade it @returns null for none */
  async visit<T>(worldId: string, look: (world: World) => Promise<T>): Promise<T | null> {
    const { store } = this.#options;
    for (;;) {
      const known = this.#byId.get(worldId) ?? (store === null ? null : await this.#open(worldId, null));
      if (known === null) return null;
      const { world } = known;
      world.enter();
      try {
        const looked = await look(world);
        if (looked !== null || !world.isClosed || store === null) return looked;
      } finally {
        world.leave();
        if (known.isVisitOnly && !world.isInUse) this.#forget(world, 'stop');
      }
    }
  }

  /** How much a world may hold now: a new one when absent. */
  roomOf(world?: World): Room {
    return this.#capacity.roomOf(world === undefined ? NOTHING : this.#sizeOf(world));
  }

  /** Ends all delayed responses and all readers, in every world. */
  release(): void {
    for (const { world } of this.#byId.values()) world.connections.release();
  }

  /** Ends every world on this server, once everything that was ordered is in the store, and opens no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await Promise.allSettled([...this.#byId.values()].map(({ world }) => world.flush()));
    for (const { world } of this.#byId.values()) world.close('stop');
    this.#byId.clear();
    this.#options.store?.close();
  }

  /** Ends a world: in memory before this returns. @returns whether there was one */
  async drop(worldId: string, reason: DropReason = 'admin'): Promise<boolean> {
    const { store, observer } = this.#options;
    const world = this.known(worldId);
    const epoch = world?.epoch;
    const isDropped = store === null ? world !== undefined : await store.drop(worldId);
    if (world !== undefined && world.epoch === epoch) this.#forget(world, reason); // else it was made again before the reply came
    if (!isDropped) return false;
    this.uses += 1; // so that the next periodic state file is written, without this world
    observer.dropped(worldId, reason);
    return true;
  }

  #used(known: Known): World {
    const { world } = known;
    world.usedAtMs = this.#nowMs;
    if (known !== this.#latest) {
      this.#byId.delete(world.id);
      this.#byId.set(world.id, known);
      this.#latest = known;
    }
    known.isVisitOnly = false;
    if (this.#cancelTimer === null) this.#scheduleSweep();
    return world;
  }

  /** Makes a world in memory. */
  #make(worldId: string): Known {
    const { wallClock, activeSource, compiler, evictions } = this.#options;
    const least = this.size >= this.maxWorlds ? this.#leastMissed() : undefined;
    if (least !== undefined) this.#evict(least, 'cap');
    const openedAtMs = wallClock.nowMs();
    this.#latestEpoch = Math.max(openedAtMs, this.#latestEpoch + 1); // a world may be dropped and opened again within a millisecond
    const epoch = this.#latestEpoch.toString(36);
    const state = openWorld(worldId, activeSource(), openedAtMs, compiler);
    const world = new World(worldId, this.#parts, { epoch, openedAtMs, isNew: true, state }, this.#inMemory);
    evictions?.opened(world);
    return this.#add(world, false);
  }

  /** Opens a world of the store. @param source the scenario of a new one; null to make none */
  #open(worldId: string, source: ScenarioSource | null): Promise<Known | null> {
    const opening = this.#opening.get(worldId);
    if (opening !== undefined && source === null) return opening;
    const opened = (opening ?? Promise.resolve(null))
      .then((known) => known ?? this.#load(worldId, source))
      .finally(() => {
        if (this.#opening.get(worldId) === opened) this.#opening.delete(worldId);
      });
    this.#opening.set(worldId, opened);
    return opened;
  }

  async #load(worldId: string, source: ScenarioSource | null): Promise<Known | null> {
    const opened = await this.#options.store!.open(worldId, source);
    if (opened === null) return null;
    const world = new World(worldId, this.#parts, opened, opened.orderOf);
    if (!opened.isNew && (await readUnlessDropped(world, () => true)) === null) return null;
    this.#options.evictions?.opened(world);
    const known = this.#add(world, source === null);
    this.#makeRoom();
    return known;
  }

  #add(world: World, isVisitOnly: boolean): Known {
    const known = { world, size: NOTHING, notedAtMs: 0, isVisitOnly };
    this.#byId.set(world.id, known);
    this.#latest = known;
    this.#count(world);
    return known;
  }

  /** Forgets a world, and ends it on this server. */
  #forget(world: World, reason: DropReason): void {
    const known = this.#byId.get(world.id);
    if (known?.world === world) {
      this.#byId.delete(world.id);
      this.#capacity.count(known.size, null, 0);
    }
    world.close(reason);
  }

  /** Drops a world in memory without a request to drop it. */
  #evict(world: World, reason: 'idle' | 'cap'): void {
    const after = this.#options.evictions?.before(world, reason);
    void this.drop(world.id, reason);
    try {
      after?.();
    } catch (error) {
      world.failed(error);
    }
  }

  /** The one whose drop loses least: the idlest without transactions, else the idlest. One in use only if all are. */
  #leastMissed(): World | undefined {
    const all = [...this.#byId.values()];
    const idle = all.filter(({ world }) => !world.isInUse);
    return (idle.find(({ size }) => size.transactions === 0) ?? idle[0] ?? all[0])?.world;
  }

  /** Sets one timer: for the world in memory that was idle longest; with a store, for its list of worlds. */
  #scheduleSweep(): void {
    const { wallClock, idleMs, store } = this.#options;
    const idlest = this.#byId.values().next().value?.world;
    if (this.#isClosed || idlest === undefined) return void (this.#cancelTimer = null);
    const atMs = store === null ? idlest.usedAtMs + idleMs : wallClock.nowMs() + NOTED_EVERY_MS;
    this.#cancelTimer = wallClock.schedule(atMs, () => void this.#sweep());
  }

  async #sweep(): Promise<void> {
    const { idleMs, store } = this.#options;
    if (store !== null) await this.#noteUses(store).catch(() => undefined); // it is unavailable, which its heartbeat reports
    const latestUseMs = this.#nowMs - idleMs;
    for (const { world } of this.#byId.values()) {
      if (world.usedAtMs > latestUseMs) break;
      if (store === null) this.#evict(world, 'idle');
      else if (world.isIdle) this.#forget(world, 'stop'); // the store lets it expire
    }
    this.#scheduleSweep();
  }

  /** Writes the latest uses of worlds to the list of all. */
  async #noteUses(store: SharedWorlds): Promise<void> {
    const used: Known[] = [];
    for (const known of [...this.#byId.values()].toReversed()) {
      if (known.world.usedAtMs <= known.notedAtMs) break;
      if (!known.isVisitOnly) used.push(known);
    }
    const times = used.map(({ world }) => world.usedAtMs);
    if (used.length > 0) await store.used(used.map(({ world }) => world));
    for (const [nth, known] of used.entries()) known.notedAtMs = times[nth]!;
  }

  /** The row of a world; null for one that is gone, which is taken off the list, too. */
  async #row(worldId: string): ReturnType<typeof rowOf> {
    const { store } = this.#options;
    const row = await this.visit(worldId, async (world) =>
      rowOf(world, (await store?.usedAtMs(worldId)) ?? world.usedAtMs),
    );
    if (row === null) await store?.unlist(worldId);
    return row;
  }

  *#all(): Generator<World> {
    for (const { world } of this.#byId.values()) yield world;
  }

  get #nowMs(): number {
    const { store, wallClock } = this.#options;
    return (store ?? wallClock).nowMs();
  }

  #sizeOf({ id }: World): WorldSize {
    return this.#byId.get(id)?.size ?? NOTHING;
  }

  #count(world: World): void {
    const known = this.#byId.get(world.id);
    if (known === undefined || known.world !== world) return;
    known.size = this.#capacity.count(known.size, world.latest, world.connections.recent.length);
    if (this.#capacity.remembersMoreThan(1)) this.#forgetOldest();
  }

  /**
   * Drops the older half of the requests of the worlds that remember most, with what an undo needs there. A server with a store
   * forgets copies of worlds instead.
   *
   * @returns how many requests are gone
   */
  cutJournals(): number {
    const half = this.#capacity.requests / 2;
    return this.#options.store === null
      ? this.#cutLargest(() => false)
      : this.#makeRoom(() => this.#capacity.requests <= half);
  }

  #cutLargest(isEnough: () => boolean): number {
    const largestFirst = [...this.#byId.values()].toSorted((a, b) => b.size.requests - a.size.requests);
    const least = Math.max(1, (largestFirst[0]?.size.requests ?? 0) / 2);
    let dropped = 0;
    for (const { world, size } of largestFirst) {
      if (size.requests < least || isEnough()) break;
      const { evicted } = world.latest.requests;
      world.inBackground(world.submit({ kind: 'forgetUndo' }));
      world.inBackground(world.submit({ kind: 'forget', as: 'evicted' }));
      world.connections.recent.clear(); // with the event of that
      this.#count(world);
      dropped += world.latest.requests.evicted - evicted;
    }
    return dropped;
  }

  /** Forgets copies of worlds that were idle longest, and whose use is in the list of all worlds. @returns how many requests they had */
  #makeRoom(isEnough = (): boolean => this.size <= this.maxWorlds && !this.#capacity.isExceeded): number {
    let dropped = 0;
    for (const { world, size, notedAtMs } of this.#byId.values()) {
      if (isEnough() || world.usedAtMs > notedAtMs) break;
      if (!world.isIdle) continue;
      dropped += size.requests;
      this.#forget(world, 'stop');
    }
    return dropped;
  }

  /** Makes room for more than one request, where all worlds together remember too many. */
  #forgetOldest(): void {
    if (this.#options.store !== null) return void this.#makeRoom();
    if (this.#isForgetting) return; // what it does changes worlds, too
    this.#isForgetting = true;
    const isEnough = (): boolean => !this.#capacity.remembersMoreThan(1 - FREED);
    while (!isEnough() && this.#cutLargest(isEnough) > 0);
    this.#isForgetting = false;
  }

  /** The scenario that a world should follow, since it follows a former one of this server; null for none. */
  #successorOf({ scenario }: WorldState): ScenarioSource | null {
    const active = this.#options.activeSource();
    if (scenario.isChosen || scenario.source === active) return null;
    if (this.#options.store === null) return active;
    if (active !== this.#latestSource) {
      this.#formerSources.add(JSON.stringify(this.#latestSource));
      this.#formerSources.delete(JSON.stringify(active));
      this.#latestSource = active;
    }
    // worlds may also follow the scenario of another server
    if (this.#formerSources.size === 0) return null;
    return this.#formerSources.has(JSON.stringify(scenario.source)) ? active : null;
  }
}

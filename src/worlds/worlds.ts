import type { ScenarioSource } from '../contract/snapshot.ts';
import type { WorldsResponse } from '../contract/control-responses.ts';
import { iso } from '../contract/times.ts';
import { toInr } from '../payout/money.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { Room, Stamp } from '../world/commands.ts';
import { openWorld } from '../world/opening.ts';
import type { WorldState } from '../world/state-shape.ts';
import { Capacity, NOTHING, type Limits } from './capacity.ts';
import { leastMissed, type Evictions } from './evictions.ts';
import type { DropReason, WorldObserver } from './order.ts';
import { WorldCopies, type SharedWorlds, type WorldsPage } from './shared-worlds.ts';
import type { WallClock } from './wall-clock.ts';
import { World, type OrderOf, type WorldParts } from './world.ts';
import { nextDueMsOf } from '../world/ledger.ts';
import { wallTimeMs } from '../world/state.ts';

const HOW = { isOwn: true, isNews: true, isAwaited: true };
const NO_ROOM: Room = { maxTransactions: 0, transactions: 0, keep: 0, rulesFree: 0 }; // an end needs none

/** The order of a world in memory: a number. Each command is applied at once, and nothing is kept. */
const inMemory =
  (wallClock: WallClock): OrderOf =>
  (world) => {
    let position = 0;
    let scheduled: { readonly wallMs: number; readonly cancel: () => void } | null = null;
    const settle = (): void => {
      scheduled = null;
      world.inBackground(world.submit({ kind: 'settle' }));
    };
    /** Settles when the next step is due. Settlement is correct without it; it only makes changes known on time. */
    const schedule = (): void => {
      const dueMs = world.closed === null ? nextDueMsOf(world.latest) : null;
      const wallMs = dueMs === null ? null : wallTimeMs(world.latest.clock, dueMs);
      if (wallMs === (scheduled?.wallMs ?? null)) return;
      scheduled?.cancel();
      scheduled = wallMs === null ? null : { wallMs, cancel: wallClock.schedule(wallMs, settle) };
    };
    const stampOf = (room: Room): Stamp => ({ server: '', position, wallMs: wallClock.nowMs(), room });
    return {
      get position() {
        return position;
      },
      nowMs: () => wallClock.nowMs(),
      async submit(command, room) {
        position += 1;
        const applied = world.apply(command, stampOf(room), HOW);
        schedule();
        return applied;
      },
      end: (ended) => void world.apply({ kind: 'end', ends: [ended] }, stampOf(NO_ROOM), HOW),
      follow: async () => undefined,
      listen: () => undefined,
      isBusy: false,
      flush: async () => undefined,
      close: schedule,
    };
  };

/** A page of some worlds, the one that was idle longest first. See `SharedWorlds.page`. */
function pageOf(worlds: Iterable<World>, afterMs: number, count: number): WorldsPage {
  const uses: [string, number][] = [];
  let next: number | null = null;
  for (const { id, usedAtMs } of worlds) {
    if (usedAtMs <= afterMs) continue;
    if (next !== null && usedAtMs > next) return { uses, next };
    uses.push([id, usedAtMs]);
    if (uses.length >= count) next = usedAtMs;
  }
  return { uses, next: null };
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

const FREED = 1 / 64; // of what all may remember, when they have to forget
const NOTED_EVERY_MS = 1000;
const ROWS_AT_ONCE = 50; // of a list

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
  readonly #byId = new Map<string, World>();
  /** The last of them. */
  #latest: World | undefined;
  /** Null where this process has all worlds. */
  readonly #copies: WorldCopies | null;
  #latestEpoch = 0;
  #cancelTimer: (() => void) | null = null;
  #isForgetting = false;
  #isClosed = false;

  constructor(options: WorldsOptions) {
    const { compiler, wallClock, observer } = options;
    this.#options = options;
    this.maxWorlds = options.maxWorlds;
    this.#capacity = new Capacity(options);
    this.#inMemory = inMemory(wallClock);
    this.#parts = {
      compiler,
      wallClock,
      observer,
      successorOf: (state) => this.#successorOf(state),
      roomFor: (world, command) => this.#capacity.roomFor(world.size, command),
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
    this.#copies =
      options.store &&
      new WorldCopies(options.store, options.activeSource(), this.#parts, (world) => {
        options.evictions?.opened(world);
        this.#add(world);
        this.#makeRoom();
      });
  }

  /** How many worlds this server has in memory. */
  get size(): number {
    return this.#byId.size;
  }

  /** How many transactions they hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
  get transactions(): number {
    return this.#capacity.held.transactions;
  }

  /** The world of this id, if this server has it in memory. Not a use. */
  known(worldId: string): World | undefined {
    return this.#byId.get(worldId);
  }

  /** The world of this id, if it is in memory here; without a store it is made at its first use. Counts as a use. */
  useHere(worldId: string): World | null {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.uses += 1;
    const world = this.#byId.get(worldId) ?? (this.#copies === null ? this.#make(worldId) : null);
    return world === null ? null : this.#used(world);
  }

  /** The same, and where there is a store, the world is opened from it. @throws Refusal STORE_UNAVAILABLE */
  async use(worldId: string): Promise<World> {
    for (;;) {
      const here = this.useHere(worldId);
      if (here !== null) return here;
      const world = await this.#copies!.open(worldId, this.#options.activeSource());
      const isGone = world === null || world.closed !== null; // dropped meanwhile
      if (!isGone || this.#isClosed) return this.#used(world!);
    }
  }

  /** Those in memory, the one that was idle longest first. */
  all(): Iterable<World> {
    return this.#byId.values();
  }

  /** The ids of all worlds, the one that was idle longest first. */
  async ids(): Promise<readonly string[]> {
    const { store } = this.#options;
    if (store === null) return [...this.#byId.keys()];
    await this.#noteUses();
    return store.ids();
  }

  /** A page of the list of all worlds, without those that are gone. Not a use. @param afterMs only those used after that time */
  async page(afterMs: number, count: number): Promise<WorldsResponse> {
    await this.#noteUses();
    const { store, wallClock } = this.#options;
    const { uses, next } =
      store === null ? pageOf(this.#byId.values(), afterMs, count) : await store.page(afterMs, count);
    const row = async ([worldId, usedAtMs]: (typeof uses)[number]) => {
      const found = await this.visit(worldId, ({ id, name, wallet, payouts, index }) => ({
        id,
        name,
        used_at: iso(usedAtMs),
        balance: toInr(wallet.balancePaise),
        transactions: payouts.length,
        scenario: index.base.name,
      }));
      if (found === null) await store?.unlist(worldId);
      return found;
    };
    const worlds: WorldsResponse['worlds'] = [];
    for (let from = 0; from < uses.length; from += ROWS_AT_ONCE) {
      if (from > 0) await wallClock.yieldToEventLoop();
      const rows = await Promise.all(uses.slice(from, from + ROWS_AT_ONCE).map(row));
      worlds.push(...rows.filter((one) => one !== null));
    }
    return { worlds, next };
  }

  /** Reads a world without opening it; not a use. @returns null for none */
  async visit<T>(
    worldId: string,
    look: (state: Readonly<WorldState>, world: World) => T | Promise<T>,
  ): Promise<T | null> {
    for (;;) {
      const world = this.#byId.get(worldId) ?? (await this.#copies?.open(worldId, null)) ?? null;
      if (world === null) return null;
      world.enter();
      try {
        const looked = await world.peek((state) => look(state, world));
        if (looked !== null || world.closed === null || this.#copies === null) return looked; // else another server remade it
      } finally {
        world.leave();
        if (world.isVisitOnly && !world.isInUse) this.#forget(world, 'stop');
      }
    }
  }

  /** How much a new world may hold now. */
  get room(): Room {
    return this.#capacity.roomOf(NOTHING);
  }

  /** Ends all delayed responses and all readers, in every world. */
  release(): void {
    for (const world of this.#byId.values()) world.connections.release();
  }

  /** Ends every world on this server, once everything that was ordered is in the store, and opens no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await Promise.allSettled([...this.#byId.values()].map((world) => world.flush()));
    for (const world of this.#byId.values()) world.close('stop');
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

  #used(world: World): World {
    world.usedAtMs = this.#nowMs;
    if (world !== this.#latest) {
      this.#byId.delete(world.id);
      this.#byId.set(world.id, world);
      this.#latest = world;
    }
    world.isVisitOnly = false;
    if (this.#cancelTimer === null) this.#scheduleSweep();
    return world;
  }

  /** Makes a world in memory. */
  #make(worldId: string): World {
    const { wallClock, activeSource, compiler, evictions } = this.#options;
    const least = this.size >= this.maxWorlds ? leastMissed([...this.#byId.values()]) : undefined;
    if (least !== undefined) this.#evict(least, 'cap');
    const openedAtMs = wallClock.nowMs();
    this.#latestEpoch = Math.max(openedAtMs, this.#latestEpoch + 1); // a world may be dropped and opened again within a millisecond
    const epoch = this.#latestEpoch.toString(36);
    const state = openWorld(worldId, activeSource(), openedAtMs, compiler);
    const world = new World(worldId, this.#parts, { epoch, isNew: true, state }, this.#inMemory);
    evictions?.opened(world);
    this.#add(world);
    return world;
  }

  #add(world: World): void {
    this.#byId.set(world.id, world);
    this.#latest = world;
    this.#count(world);
  }

  /** Forgets a world, and ends it on this server. */
  #forget(world: World, reason: DropReason): void {
    if (this.#byId.get(world.id) === world) {
      this.#byId.delete(world.id);
      world.size = this.#capacity.count(world.size, null, 0);
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

  /** Sets one timer: for the world in memory that was idle longest; with a store, for its list of worlds. */
  #scheduleSweep(): void {
    const { wallClock, idleMs, store } = this.#options;
    const idlest = this.#byId.values().next().value;
    if (this.#isClosed || idlest === undefined) return void (this.#cancelTimer = null);
    const atMs = store === null ? idlest.usedAtMs + idleMs : wallClock.nowMs() + NOTED_EVERY_MS;
    this.#cancelTimer = wallClock.schedule(atMs, () => void this.#sweep());
  }

  async #sweep(): Promise<void> {
    const { idleMs, store } = this.#options;
    await this.#noteUses().catch(() => undefined); // it is unavailable, which its heartbeat reports
    const latestUseMs = this.#nowMs - idleMs;
    for (const world of this.#byId.values()) {
      if (world.usedAtMs > latestUseMs) break;
      if (store === null) this.#evict(world, 'idle');
      else if (world.isIdle) this.#forget(world, 'stop'); // the store lets it expire
    }
    this.#scheduleSweep();
  }

  async #noteUses(): Promise<void> {
    await this.#copies?.noteUses([...this.#byId.values()].toReversed());
  }

  get #nowMs(): number {
    const { store, wallClock } = this.#options;
    return (store ?? wallClock).nowMs();
  }

  #count(world: World): void {
    if (this.#byId.get(world.id) !== world) return;
    world.size = this.#capacity.count(world.size, world.latest, world.connections.recent.length);
    if (this.#capacity.remembersMoreThan(1)) this.#forgetOldest();
  }

  /**
   * Drops the older half of the requests of the worlds that remember most, with what an undo needs there. A server with a store
   * forgets copies of worlds instead.
   *
   * @returns how many requests are gone
   */
  cutJournals(): number {
    const half = this.#capacity.held.requests / 2;
    return this.#copies === null
      ? this.#cutLargest(() => false)
      : this.#makeRoom(() => this.#capacity.held.requests <= half);
  }

  /** Cuts those that remember at least half of what the largest does. */
  #cutLargest(isEnough: () => boolean): number {
    const largestFirst = [...this.#byId.values()].toSorted((a, b) => b.size.requests - a.size.requests);
    const least = Math.max(1, (largestFirst[0]?.size.requests ?? 0) / 2);
    let dropped = 0;
    for (const world of largestFirst) {
      if (world.size.requests < least || isEnough()) break;
      const { evicted } = world.latest.requests;
      world.inBackground(world.submit({ kind: 'forgetUndo' }));
      world.inBackground(world.submit({ kind: 'forget', as: 'evicted' }));
      world.connections.recent.clear(); // with the event of that
      this.#count(world);
      dropped += world.latest.requests.evicted - evicted;
    }
    return dropped;
  }

  /** Forgets copies of worlds of a store, whose use is in the list of all, the idlest first. */
  #makeRoom(isEnough = (): boolean => this.size <= this.maxWorlds && !this.#capacity.isExceeded): number {
    let dropped = 0;
    for (const world of this.#byId.values()) {
      if (isEnough() || world.usedAtMs > world.notedAtMs) break;
      if (!world.isIdle) continue;
      dropped += world.size.requests;
      this.#forget(world, 'stop');
    }
    return dropped;
  }

  /** Makes room for more than one request, where all worlds together remember too many. */
  #forgetOldest(): void {
    if (this.#copies !== null) return void this.#makeRoom();
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
    return this.#copies === null ? active : this.#copies.successorOf(scenario.source, active);
  }
}

import type { WorldsResponse } from '../contract/control-responses.ts';
import { Refusal } from '../contract/errors.ts';
import type { ScenarioSource, ScenarioCompiler } from '../scenario/scenario.ts';
import { thaw } from '../world/copy.ts';
import type { WorldState } from '../world/state.ts';
import { readUnlessDropped } from './dropped.ts';
import { thawed } from './thawed-state.ts';
import { directoryExchange } from './known/directory-exchange.ts';
import type { Evictions } from './known/evictions.ts';
import { pageOf } from './known/rows.ts';
import type { Draft } from './known/drafts.ts';
import { KnownWorlds, type Known, type KnownWorldsOptions } from './known/known-worlds.ts';
import type { DropReason, MaybePromise, Opened } from './store.ts';
import type { WorldObserver, WorldParts } from './world-parts.ts';
import { World } from './world.ts';

export interface WorldsOptions extends KnownWorldsOptions {
  readonly compiler: ScenarioCompiler;
  /** The scenario of every world that has not chosen another. A reload of its file changes it. */
  readonly activeSource: () => ScenarioSource;
  readonly observer: WorldObserver;
  /** One more drops the world that was idle longest. */
  readonly maxWorlds: number;
  /** A world without a request for this long, in ms of wall time, is dropped. */
  readonly idleMs: number;
  readonly evictions?: Evictions;
}

/** The worlds of a server, in the order of their latest use: all, or copies of those in a store that servers share. */
export class Worlds {
  readonly maxWorlds: number;
  /** Increases with every use of any world and every command: while it stays the same, nothing has changed. */
  uses = 0;
  readonly #options: WorldsOptions;
  readonly #parts: WorldParts<World>;
  readonly #known: KnownWorlds;
  /** Null without a store that servers share. */
  readonly #exchange: ReturnType<typeof directoryExchange> | null;
  #latestSource: ScenarioSource;
  /** The scenarios that this server had before, as JSON. */
  readonly #formerSources = new Set<string>();
  #numbers = 0;
  readonly #opening = new Map<string, Promise<Known | null>>();
  #cancelTimer: (() => void) | null = null;
  #isClosed = false;

  constructor(options: WorldsOptions) {
    const { store, compiler, wallClock, observer, idleMs } = options;
    this.#options = options;
    this.maxWorlds = options.maxWorlds;
    this.#known = new KnownWorlds(options);
    this.#exchange = store.directory === null ? null : directoryExchange(store.directory, this.#known);
    this.#latestSource = options.activeSource();
    this.#parts = {
      store,
      compiler,
      wallClock,
      observer,
      nextNumber: () => (this.#numbers += 1),
      activeSource: options.activeSource,
      successorOf: (state) => this.#successorOf(state),
      roomFor: (world, command) => this.#known.roomFor(world, command),
      used: () => void (this.uses += 1),
      changed: (world) => this.#known.count(world),
      remade: (world, isNew) => {
        if (isNew) this.#list(world).catch((error: unknown) => observer.failed(world.id, error));
        options.evictions?.opened?.(world);
      },
      ended: (world, reason) => this.#known.forget(world, reason),
    };
    void this.#exchange?.regularly(wallClock, idleMs, (worldId) => this.#evict(worldId, 'idle', idleMs));
  }

  get size(): number {
    return Math.max(this.#known.size, this.#options.store.directory?.worlds ?? 0);
  }

  /** The worlds that this server has in memory. */
  get copies(): Pick<KnownWorlds, 'get' | 'size'> {
    return this.#known;
  }

  /** How many records all worlds hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
  get recordsHeld(): number {
    return this.#known.recordsHeld;
  }

  /** The world of this id, opened at its first use. Counts as a use. */
  use(worldId: string): MaybePromise<World> {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.uses += 1;
    const known = this.#known.get(worldId) ?? this.#openNow(worldId);
    if (known instanceof Promise) {
      const isGone = ({ world }: Known): boolean => world.isClosed && !this.#isClosed; // forgotten, or dropped, meanwhile
      return known.then((one) => (isGone(one) ? this.use(worldId) : this.#used(one)));
    }
    return this.#used(known);
  }

  /** The ids of all worlds, the one that was idle longest first. */
  async ids(): Promise<readonly string[]> {
    await this.#exchange?.once();
    return (this.#options.store.directory ?? this.#known).ids();
  }

  /** What a page of the list shows, without worlds that are gone. Not a use. @param afterMs only those used after that time */
  async page(afterMs: number, count: number): Promise<WorldsResponse> {
    await this.#exchange?.once();
    return pageOf(this, this.#known, this.#options, { afterMs, count });
  }

  /** Looks at a world without opening it; not a use. @param look called again if another server remade it @returns null for none */
  async visit<T>(worldId: string, look: (world: World) => Promise<T>): Promise<T | null> {
    for (;;) {
      const known = this.#known.get(worldId) ?? (await this.#open(worldId, null));
      if (known === null) return null;
      const { world } = known;
      world.enter();
      try {
        const looked = await look(world);
        if (looked !== null || !world.isClosed) return looked;
      } finally {
        world.leave();
        if (known.isVisitOnly && !world.isInUse) this.#known.forget(world, 'stop');
      }
    }
  }

  draft(...options: Parameters<KnownWorlds['draft']>): Draft {
    return this.#known.draft(...options);
  }

  /** Ends all delayed responses and all readers, in every world. */
  release(): void {
    for (const { world } of this.#known.all()) world.connections.release();
  }

  /** Ends every world on this server, once everything that was ordered is in the store, and opens no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#exchange?.close();
    if (this.#options.store.directory !== null) {
      await Promise.allSettled([...this.#known.all()].map(({ world }) => world.flush()));
    }
    this.#known.close();
    this.#options.store.close();
  }

  #used(known: Known): World {
    this.#known.used(known);
    if (this.#cancelTimer === null) this.#scheduleSweep();
    return known.world;
  }

  #openNow(worldId: string): MaybePromise<Known> {
    const { store, activeSource, evictions } = this.#options;
    if (store.directory !== null) {
      return this.#open(worldId, activeSource()).then((known) => known ?? this.#openNow(worldId)); // it was dropped meanwhile
    }
    const least = this.#known.size >= this.maxWorlds ? this.#known.leastMissed() : undefined;
    if (least !== undefined) void this.#evict(least.id, 'cap');
    const opened = store.open(worldId, activeSource()) as Opened;
    const steps = thaw(opened.base.state(), this.#parts.compiler);
    const { value } = steps.next(); // a new world has no payouts, so this is one step
    const world = new World(worldId, this.#parts, opened, value as WorldState);
    evictions?.opened?.(world);
    return this.#known.add(world, false);
  }

  /** Opens a world of a store that servers share. @param source the scenario of a new one; null to make none */
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
    const opened = await this.#options.store.open(worldId, source);
    if (opened === null) return null;
    const state = await thawed(opened.base.state(), this.#options);
    const world = new World(worldId, this.#parts, opened, state);
    if (!opened.isNew && (await readUnlessDropped(world, () => true)) === null) return null;
    this.#options.evictions?.opened?.(world);
    const known = this.#known.add(world, source === null);
    if (opened.isNew) await this.#list(world);
    this.#known.makeRoom();
    return known;
  }

  /** Lists a new world, and drops another one if there are too many. */
  async #list(world: World): Promise<void> {
    const { directory } = this.#options.store;
    try {
      const worlds = await directory!.add(world.id, world.usedAtMs);
      const least = worlds > this.maxWorlds ? await directory!.leastMissed(world.id) : undefined;
      if (least !== undefined) await this.#evict(least, 'cap');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // the list is on a node of a cluster that is away: an exchange lists the world once that is back
    }
  }

  /** Drops a world without a request to drop it. */
  async #evict(worldId: string, reason: DropReason, idleMs?: number): Promise<void> {
    const { evictions, observer, store } = this.#options;
    try {
      const look = (world: World) => readUnlessDropped(world, () => evictions?.before(world, reason));
      const after =
        store.directory === null
          ? evictions?.before(this.#known.get(worldId)!.world, reason) // at once
          : await this.visit(worldId, look);
      if (await this.drop(worldId, reason, idleMs)) after?.();
    } catch (error) {
      if (!(error instanceof Refusal)) observer.failed(worldId, error); // another server may drop it, or the store is unavailable
    }
  }

  /** Ends a world; at once in memory. @param idleMs only when it was not used for this long @returns whether there was one */
  async drop(worldId: string, reason: DropReason = 'admin', idleMs?: number): Promise<boolean> {
    const { store, observer } = this.#options;
    const known = this.#known.get(worldId);
    const epoch = known?.world.epoch;
    const dropping = store.drop(worldId, reason, idleMs);
    const isDropped = dropping instanceof Promise ? await dropping : dropping;
    if (!isDropped && idleMs !== undefined) return false; // used meanwhile
    if (known !== undefined && known.world.epoch === epoch) this.#known.forget(known.world, reason); // else it was made again before the reply came
    if (!isDropped) return false;
    this.uses += 1; // so that the next periodic state file is written, without this world
    observer.dropped(worldId, reason);
    return true;
  }

  /** Sets one timer, for the world that was idle longest; none while there is no world. */
  #scheduleSweep(): void {
    const { wallClock, idleMs, store } = this.#options;
    if (store.directory !== null) return;
    const idlest = this.#known.idlest();
    this.#cancelTimer =
      idlest === undefined ? null : wallClock.schedule(idlest.usedAtMs + idleMs, () => this.#sweep());
  }

  #sweep(): void {
    const { wallClock, idleMs } = this.#options;
    const latestUseMs = wallClock.nowMs() - idleMs;
    for (;;) {
      const idlest = this.#known.idlest();
      if (idlest === undefined || idlest.usedAtMs > latestUseMs) break;
      void this.#evict(idlest.id, 'idle');
    }
    this.#scheduleSweep();
  }

  /** The scenario that a world should follow, since it follows a former one of this server; null for none. */
  #successorOf({ scenario }: WorldState): ScenarioSource | null {
    const active = this.#options.activeSource();
    if (scenario.isChosen || scenario.source === active) return null;
    if (this.#exchange === null) return active;
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

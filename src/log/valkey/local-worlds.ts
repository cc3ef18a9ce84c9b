import { sizeOf, NOTHING, type WorldSize, type Totals } from '../totals.ts';
import type { WallClock } from '../wall-clock.ts';
import type { DropReason } from '../world-log.ts';
import type { ValkeyWorld } from './valkey-world.ts';

/** A world that this server has a copy of. */
export interface LocalWorld {
  readonly world: ValkeyWorld;
  usedAtMs: number;
  size: WorldSize;
  /** How many callers look at it without using it. */
  visitors: number;
  /** Whether it was only loaded for a look: it is forgotten after the last one. */
  isVisitOnly: boolean;
}

const MOST = 10_000;
/** A world is forgotten only after this long without use, since a request may be on its way to it. */
const FORGOTTEN_AFTER_MS = 60_000;

/** The worlds of a store that this server has copies of: a bounded cache. */
export class LocalWorlds {
  readonly #totals: Totals;
  readonly #wallClock: WallClock;
  /** By id, in order of last use, the one that was idle longest first. */
  readonly #byId = new Map<string, LocalWorld>();

  constructor(totals: Totals, wallClock: WallClock) {
    this.#totals = totals;
    this.#wallClock = wallClock;
  }

  get size(): number {
    return this.#byId.size;
  }

  get ids(): ReadonlySet<string> {
    return new Set(this.#byId.keys());
  }

  get(worldId: string): LocalWorld | undefined {
    return this.#byId.get(worldId);
  }

  values(): readonly LocalWorld[] {
    return [...this.#byId.values()];
  }

  add(world: ValkeyWorld, usedAtMs: number, isVisitOnly: boolean): LocalWorld {
    const local: LocalWorld = { world, usedAtMs, size: NOTHING, visitors: 0, isVisitOnly };
    this.#byId.set(world.id, local);
    this.count(world);
    return local;
  }

  use(local: LocalWorld): void {
    const { world } = local;
    local.usedAtMs = this.#wallClock.nowMs();
    local.isVisitOnly = false;
    this.#byId.delete(world.id);
    this.#byId.set(world.id, local);
  }

  /** Counts what a world holds, as far as this server knows it. */
  count(world: ValkeyWorld): void {
    const local = this.#byId.get(world.id);
    if (local !== undefined) this.#setSize(local, sizeOf(world.latest));
  }

  /** @param reason why the world has ended; stop when only this server forgets it, and the world stays in the store */
  forget(local: LocalWorld, reason: DropReason = 'stop'): void {
    const { world } = local;
    if (this.#byId.get(world.id) === local) this.#byId.delete(world.id);
    this.#setSize(local, NOTHING);
    world.close(reason);
  }

  /** Forgets the worlds that were idle longest, until this server has no more than it may. */
  makeRoom(): void {
    const latestUseMs = this.#wallClock.nowMs() - FORGOTTEN_AFTER_MS;
    const { limits } = this.#totals;
    for (const local of this.#byId.values()) {
      const isTooMuch = this.size > MOST || this.#totals.records > limits.maxRecords;
      if (!isTooMuch || local.usedAtMs > latestUseMs) return;
      if (local.visitors === 0 && local.world.isIdle) this.forget(local);
    }
  }

  clear(): void {
    this.#byId.clear();
  }

  #setSize(local: LocalWorld, size: WorldSize): void {
    this.#totals.replace(local.size, size);
    local.size = size;
  }
}

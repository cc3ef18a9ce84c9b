import type { WallClock } from './wall-clock.ts';
import { World, type WorldParts } from './world.ts';

/** Why a world was dropped: no request for `idleMs`, or room was needed for a new one. */
export type DropReason = 'idle' | 'cap';

interface WorldsOptions {
  readonly parts: WorldParts;
  /** How many worlds there may be; one more drops the idlest. */
  readonly maxWorlds: number;
  /** A world without a request for this long, in wall time, is dropped. */
  readonly idleMs: number;
  readonly dropped: (worldId: string, reason: DropReason) => void;
}

interface Resident {
  readonly world: World;
  usedAtMs: number;
}

/** The worlds of a sandbox, one for each API key, made at its first use. */
export class Worlds {
  /** In order of last use, the idlest first. */
  readonly #residents = new Map<string, Resident>();
  readonly #options: WorldsOptions;
  readonly #wallClock: WallClock;
  #cancelSweep: (() => void) | null = null;
  #isClosed = false;

  constructor(options: WorldsOptions) {
    this.#options = options;
    this.#wallClock = options.parts.wallClock;
  }

  get size(): number {
    return this.#residents.size;
  }

  /** The world of an accepted key, which counts as used now. */
  of(apiKey: string): World {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    const usedAtMs = this.#wallClock.nowMs();
    const resident = this.#residents.get(apiKey);
    if (resident !== undefined) {
      resident.usedAtMs = usedAtMs;
      this.#residents.delete(apiKey);
      this.#residents.set(apiKey, resident);
      return resident.world;
    }
    if (this.#residents.size >= this.#options.maxWorlds) this.#dropIdlest('cap');
    const world = new World(worldIdOf(this.#options.parts, apiKey), this.#options.parts);
    this.#residents.set(apiKey, { world, usedAtMs });
    if (this.#cancelSweep === null) this.#armSweep();
    return world;
  }

  /** Ends all answers that are held back, in every world. */
  release(): void {
    for (const { world } of this.#residents.values()) world.release();
  }

  /** Drops every world, and makes no more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    this.#cancelSweep = null;
    for (const { world } of this.#residents.values()) this.#end(world);
    this.#residents.clear();
  }

  #idlest(): [string, Resident] | undefined {
    for (const entry of this.#residents) return entry;
    return undefined;
  }

  #dropIdlest(reason: DropReason): void {
    const idlest = this.#idlest();
    if (idlest === undefined) return;
    const [apiKey, { world }] = idlest;
    this.#residents.delete(apiKey);
    this.#end(world);
    this.#options.dropped(world.id, reason);
  }

  #end(world: World): void {
    world.close().catch((error: unknown) => this.#options.parts.observer.failed(world.id, error));
  }

  /** One alarm, for the world that has been idle longest; none while there is no world. */
  #armSweep(): void {
    const idlest = this.#idlest();
    this.#cancelSweep =
      idlest === undefined
        ? null
        : this.#wallClock.alarm(idlest[1].usedAtMs + this.#options.idleMs, () => this.#sweep());
  }

  #sweep(): void {
    const latestUse = this.#wallClock.nowMs() - this.#options.idleMs;
    for (let idlest = this.#idlest(); idlest && idlest[1].usedAtMs <= latestUse; idlest = this.#idlest()) {
      this.#dropIdlest('idle');
    }
    this.#armSweep();
  }
}

/** 128 bits of a digest of the key: names the world in logs and ids, and does not give the key away. */
const worldIdOf = ({ digest }: Pick<WorldParts, 'digest'>, apiKey: string): string =>
  digest(['world', apiKey]).slice(0, 32);

import type { DropReason } from '../world/payout-refusals.ts';
import type { WallClock } from './wall-clock.ts';
import { World, type WorldParts } from './world.ts';

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
  /** The key that names it; null for one that was restored, until its key is used. */
  apiKey: string | null;
  /** Wall time of its first and latest use, ms since the epoch. */
  readonly madeAtMs: number;
  usedAtMs: number;
}

/** The worlds of a sandbox, one for each API key, made at its first use. */
export class Worlds {
  /** By world id, in order of last use, the idlest first. */
  readonly #residents = new Map<string, Resident>();
  /** The last of them, which need not be moved there. */
  #latest: Resident | null = null;
  /** The digest of a key costs more than to look it up. */
  readonly #byKey = new Map<string, Resident>();
  readonly #options: WorldsOptions;
  readonly #wallClock: WallClock;
  #uses = 0;
  #cancelSweep: (() => void) | null = null;
  #isClosed = false;

  constructor(options: WorldsOptions) {
    this.#options = options;
    this.#wallClock = options.parts.wallClock;
  }

  get size(): number {
    return this.#residents.size;
  }

  /** How often any world was used: the same number means that nobody asked for anything. */
  get uses(): number {
    return this.#uses;
  }

  /** Counts a use that began before, and only now changes something: its body may have come long after its key. */
  noteUse(): void {
    this.#uses += 1;
  }

  /** How many there may be. */
  get max(): number {
    return this.#options.maxWorlds;
  }

  /** The world of an accepted key, which counts as used now. */
  of(apiKey: string): World {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    const known = this.#byKey.get(apiKey);
    if (known !== undefined) return this.#used(known);
    const id = worldIdOf(this.#options.parts, apiKey);
    const resident = this.#residents.get(id) ?? this.#make(id);
    resident.apiKey = apiKey;
    this.#byKey.set(apiKey, resident);
    return this.#used(resident);
  }

  /** A world by its id, made if there is none: for one that is restored, whose key is not known. */
  withId(id: string): World {
    return (this.#residents.get(id) ?? this.#make(id)).world;
  }

  /** All worlds, the idlest first. */
  list(): readonly { readonly world: World; readonly madeAtMs: number; readonly usedAtMs: number }[] {
    return [...this.#residents.values()];
  }

  /** Drops a world. @returns whether there was one */
  drop(id: string): boolean {
    const resident = this.#residents.get(id);
    if (resident !== undefined) this.#drop(resident, 'admin');
    return resident !== undefined;
  }

  /** Ends all answers that are held back, in every world. */
  release(): void {
    for (const { world } of this.#residents.values()) {
      world.held.release(true);
      world.events.close();
    }
  }

  /** Drops every world, and makes no more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const { world } of this.#residents.values()) this.#end(world, 'stop');
    this.#residents.clear();
    this.#byKey.clear();
  }

  #make(id: string): Resident {
    const idlest = this.#idlest();
    if (this.#residents.size >= this.#options.maxWorlds && idlest !== undefined) this.#drop(idlest, 'cap');
    const nowMs = this.#wallClock.nowMs();
    const world = new World(id, this.#options.parts);
    const resident: Resident = { world, apiKey: null, madeAtMs: nowMs, usedAtMs: nowMs };
    this.#residents.set(id, resident);
    this.#latest = resident;
    if (this.#cancelSweep === null) this.#armSweep();
    return resident;
  }

  #used(resident: Resident): World {
    const { world } = resident;
    this.#uses += 1;
    resident.usedAtMs = this.#wallClock.nowMs();
    if (resident !== this.#latest) {
      this.#residents.delete(world.id);
      this.#residents.set(world.id, resident);
      this.#latest = resident;
    }
    return world;
  }

  #idlest(): Resident | undefined {
    for (const resident of this.#residents.values()) return resident;
    return undefined;
  }

  #drop(resident: Resident, reason: DropReason): void {
    const { world, apiKey } = resident;
    this.#residents.delete(world.id);
    if (apiKey !== null) this.#byKey.delete(apiKey);
    this.#uses += 1; // so that a state that is kept every so often is written without it
    this.#end(world, reason);
    this.#options.dropped(world.id, reason);
  }

  #end(world: World, reason: DropReason): void {
    world.close(reason).catch((error: unknown) => this.#options.parts.observer.failed(world.id, error));
  }

  /** One alarm, for the world that has been idle longest; none while there is no world. */
  #armSweep(): void {
    const idlest = this.#idlest();
    this.#cancelSweep =
      idlest === undefined
        ? null
        : this.#wallClock.alarm(idlest.usedAtMs + this.#options.idleMs, () => this.#sweep());
  }

  #sweep(): void {
    const latestUse = this.#wallClock.nowMs() - this.#options.idleMs;
    for (let idlest = this.#idlest(); idlest && idlest.usedAtMs <= latestUse; idlest = this.#idlest()) {
      this.#drop(idlest, 'idle');
    }
    this.#armSweep();
  }
}

/** 128 bits of a digest of the key: names the world in logs and ids, and does not give the key away. */
const worldIdOf = ({ digest }: Pick<WorldParts, 'digest'>, apiKey: string): string =>
  digest(['world', apiKey]).slice(0, 32);

import type { WorldState } from '../world/state.ts';
import { MemoryWorld, type MemoryWorldOptions } from './memory-world.ts';
import { MemoryNotes, type NoteLimits, type Notes } from './notes.ts';
import { Totals } from './totals.ts';
import {
  readUnlessDropped,
  worldRow,
  type Draft,
  type DropReason,
  type WorldLog,
  type WorldRow,
} from './world-log.ts';

interface MemoryLogOptions extends MemoryWorldOptions {
  /** Called before a world is dropped without a request to drop it: it was idle, or others needed its place. */
  readonly losing?: (world: MemoryWorld) => Promise<void>;
}

/** The worlds of one process, applied at once and kept in its memory. */
export class MemoryLog implements WorldLog {
  readonly maxWorlds: number;
  readonly #options: MemoryLogOptions;
  readonly #totals: Totals;
  /** By id, in order of last use, the one that was idle longest first. */
  readonly #worlds = new Map<string, MemoryWorld>();
  #cancelSweep: (() => void) | null = null;
  #isClosed = false;

  constructor(options: MemoryLogOptions) {
    this.#options = options;
    this.#totals = new Totals(options);
    this.maxWorlds = options.maxWorlds;
  }

  get size(): number {
    return this.#worlds.size;
  }

  get recordsHeld(): number {
    return this.#totals.records;
  }

  get uses(): number {
    return this.#totals.uses;
  }

  use(worldId: string): MemoryWorld {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.#totals.uses += 1;
    const world = this.#worlds.get(worldId) ?? this.#open(worldId);
    world.usedAtMs = this.#options.wallClock.nowMs();
    this.#worlds.delete(worldId);
    this.#worlds.set(worldId, world);
    if (this.#cancelSweep === null) this.#scheduleSweep();
    return world;
  }

  known(worldId: string): Readonly<WorldState> | undefined {
    return this.#worlds.get(worldId)?.latest;
  }

  ids(): readonly string[] {
    return [...this.#worlds.keys()];
  }

  async rows(worldIds: readonly string[]): Promise<readonly WorldRow[]> {
    const rows = worldIds.map((worldId) =>
      this.visit(worldId, (world) => {
        const { openedAtMs, usedAtMs } = world;
        return readUnlessDropped(world, (state) => worldRow(state, openedAtMs, usedAtMs));
      }),
    );
    return (await Promise.all(rows)).filter((row) => row !== null);
  }

  async visit<T>(worldId: string, look: (world: MemoryWorld) => Promise<T>): Promise<T | null> {
    const world = this.#worlds.get(worldId);
    return world === undefined ? null : look(world);
  }

  drop(worldId: string): boolean {
    const world = this.#worlds.get(worldId);
    if (world !== undefined) this.#drop(world, 'admin');
    return world !== undefined;
  }

  draft(): Draft {
    return this.#totals.draft();
  }

  notes(_kind: string, limits: NoteLimits): Notes {
    return new MemoryNotes(limits);
  }

  /** Ends all delayed answers and all readers, in every world. */
  release(): void {
    for (const world of this.#worlds.values()) world.release();
  }

  /** Ends every world, and opens no more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const world of this.#worlds.values()) world.close('stop');
    this.#worlds.clear();
  }

  #open(worldId: string): MemoryWorld {
    const idlest = this.#idlest();
    if (this.size >= this.maxWorlds && idlest !== undefined) this.#drop(idlest, 'cap');
    return new MemoryWorld(worldId, this.#options, this.#totals);
  }

  #idlest(): MemoryWorld | undefined {
    return this.#worlds.values().next().value;
  }

  #drop(world: MemoryWorld, reason: DropReason): void {
    const { losing, observer } = this.#options;
    if (reason !== 'admin') losing?.(world).catch((error: unknown) => observer.failed(world.id, error));
    this.#worlds.delete(world.id);
    this.#totals.uses += 1; // so that the next periodic state file is written, without this world
    world.close(reason);
    observer.dropped(world.id, reason);
  }

  /** Sets one timer, for the world that was idle longest; none while there is no world. */
  #scheduleSweep(): void {
    const { wallClock, idleMs } = this.#options;
    const idlest = this.#idlest();
    this.#cancelSweep =
      idlest === undefined ? null : wallClock.schedule(idlest.usedAtMs + idleMs, () => this.#sweep());
  }

  #sweep(): void {
    const { wallClock, idleMs } = this.#options;
    const latestUseMs = wallClock.nowMs() - idleMs;
    for (let idlest = this.#idlest(); idlest && idlest.usedAtMs <= latestUseMs; idlest = this.#idlest()) {
      this.#drop(idlest, 'idle');
    }
    this.#scheduleSweep();
  }
}

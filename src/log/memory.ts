import type { Command, Stamp } from '../world/commands.ts';
import { attemptsHeld, full, recordsHeld } from '../world/state.ts';
import { MemoryWorld, type WorldParts } from './memory-world.ts';
import type { Draft, DropReason, WorldLog, WorldRow } from './world-log.ts';

interface MemoryLogOptions extends WorldParts {
  /** One more drops the world that was idle longest. */
  readonly maxWorlds: number;
  /** A world without a request for this long, in ms of wall time, is dropped. */
  readonly idleMs: number;
  /** How many records all worlds together may hold. */
  readonly maxRecords: number;
  /** How many attempts all worlds together may count. */
  readonly maxAttempts: number;
}

interface Resident {
  readonly world: MemoryWorld;
  readonly openedAtMs: number;
  usedAtMs: number;
  /** What it held after its latest command. */
  records: number;
  attempts: number;
}

/** The worlds of one process, applied at once and kept in its memory. */
export class MemoryLog implements WorldLog {
  readonly maxWorlds: number;
  readonly #options: MemoryLogOptions;
  /** By id, in order of last use, the one that was idle longest first. */
  readonly #residents = new Map<string, Resident>();
  #uses = 0;
  #records = 0;
  #drafted = 0;
  #attempts = 0;
  #cancelSweep: (() => void) | null = null;
  #isClosed = false;

  constructor(options: MemoryLogOptions) {
    this.#options = options;
    this.maxWorlds = options.maxWorlds;
  }

  get size(): number {
    return this.#residents.size;
  }

  get recordsHeld(): number {
    return this.#records;
  }

  get uses(): number {
    return this.#uses;
  }

  use(worldId: string): MemoryWorld {
    if (this.#isClosed) throw new Error('the sandbox is closed');
    this.#uses += 1;
    const resident = this.#residents.get(worldId) ?? this.#open(worldId);
    resident.usedAtMs = this.#options.wallClock.nowMs();
    this.#residents.delete(worldId);
    this.#residents.set(worldId, resident);
    if (this.#cancelSweep === null) this.#scheduleSweep();
    return resident.world;
  }

  list(): readonly WorldRow[] {
    return [...this.#residents.values()];
  }

  drop(worldId: string): boolean {
    const resident = this.#residents.get(worldId);
    if (resident !== undefined) this.#drop(resident, 'admin');
    return resident !== undefined;
  }

  draft(): Draft {
    let taken = 0;
    return {
      grow: (records) => {
        if (this.#recordsFree < records) throw full(this.#options.maxRecords);
        taken += records;
        this.#drafted += records;
      },
      end: () => {
        this.#drafted -= taken;
        taken = 0;
      },
    };
  }

  /** Ends all answers that are held back and all readers, in every world. */
  release(): void {
    for (const { world } of this.#residents.values()) world.release();
  }

  /** Ends every world, and opens no more. */
  close(): void {
    this.#isClosed = true;
    this.#cancelSweep?.();
    for (const { world } of this.#residents.values()) world.close('stop');
    this.#residents.clear();
  }

  get #recordsFree(): number {
    return this.#options.maxRecords - this.#records - this.#drafted;
  }

  #open(worldId: string): Resident {
    const { maxWorlds, wallClock } = this.#options;
    const idlest = this.#idlest();
    if (this.#residents.size >= maxWorlds && idlest !== undefined) this.#drop(idlest, 'cap');
    const nowMs = wallClock.nowMs();
    const resident: Resident = {
      world: new MemoryWorld(worldId, {
        parts: this.#options,
        stamp: (command) => this.#stamp(command, resident),
        applied: () => this.#applied(resident),
      }),
      openedAtMs: nowMs,
      usedAtMs: nowMs,
      records: 0,
      attempts: 0,
    };
    this.#residents.set(worldId, resident);
    return resident;
  }

  #stamp(command: Command, { records }: Resident): Stamp {
    const { maxRecords, maxAttempts, wallClock } = this.#options;
    const recordsFree = this.#recordsFree;
    // a body may come long after its key; a settlement follows from what was known before
    if (command.kind !== 'settle' && command.kind !== 'follow') this.#uses += 1;
    if (command.kind === 'restore' && recordsHeld(command.state) > recordsFree + records) {
      throw full(maxRecords);
    }
    return {
      wallMs: wallClock.nowMs(),
      maxRecords,
      recordsFree,
      attemptsFree: maxAttempts - this.#attempts,
    };
  }

  /** Counts what a world holds after a command. */
  #applied(resident: Resident): void {
    const { latest } = resident.world;
    const [records, attempts] = [recordsHeld(latest), attemptsHeld(latest.attempts)];
    this.#records += records - resident.records;
    this.#attempts += attempts - resident.attempts;
    resident.records = records;
    resident.attempts = attempts;
  }

  #idlest(): Resident | undefined {
    for (const resident of this.#residents.values()) return resident;
    return undefined;
  }

  #drop(resident: Resident, reason: DropReason): void {
    const { world, records, attempts } = resident;
    this.#residents.delete(world.id);
    this.#records -= records;
    this.#attempts -= attempts;
    this.#uses += 1; // so that a state file that is written every so often is written without it
    world.close(reason);
    this.#options.observer.dropped(world.id, reason);
  }

  /** One timer, for the world that was idle longest; none while there is no world. */
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

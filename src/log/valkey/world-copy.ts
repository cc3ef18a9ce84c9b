import type { ScenarioSource } from '../../contract/snapshot-lines.ts';
import { invariant } from '../../payout/money.ts';
import { inTurns } from '../../scenario/scenario-library.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import { apply, type Applied } from '../../world/apply.ts';
import type { Command, RestoreCommand } from '../../world/commands.ts';
import { openWorld, type WorldState } from '../../world/state.ts';
import { NOTHING } from '../totals.ts';
import type { WallClock } from '../wall-clock.ts';
import {
  commandText,
  readCommand,
  stampOf,
  type LogEntry,
  type Room,
  type StoredCommand,
  type StoredRestore,
} from './log-entry.ts';
import { FORMAT, type WorldKeys } from './scripts/scripts.ts';
import { storeUnavailable, type StoreConnection } from './store-connection.ts';
import { readState, type Place } from './stored/stored-snapshot.ts';

export interface CopyParts {
  readonly store: StoreConnection;
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
}

/** What the script `open` returns; empty when there is no world. */
type Opened = readonly [epoch: string, format: number, snapshot: number, openedAtMs: number, isNew: 0 | 1];

const ANYTHING: Room = { maxRecords: 0, ...NOTHING };
const TRIES = 5;

interface AppliedEntry {
  readonly command: Command;
  readonly outcome: Applied;
}

/** The log can no longer be followed from this server's position: it reloads the latest snapshot. */
export class LogMoved extends Error {}

/** A world as this server knows it: its state at one position of the log. */
export class WorldCopy {
  readonly epoch: string;
  readonly openedAtMs: number;
  readonly isNew: boolean;
  place: Place = { position: 0, name: '' };
  /** The position of the snapshot in the store; 0 for none. */
  snapshotPosition: number;
  readonly #id: string;
  readonly #parts: CopyParts;
  #state: WorldState | null = null;

  private constructor(id: string, parts: CopyParts, opened: Opened) {
    this.#id = id;
    this.#parts = parts;
    const [epoch, , snapshot, openedAtMs, isNew] = opened;
    this.epoch = epoch;
    this.snapshotPosition = snapshot;
    this.openedAtMs = openedAtMs;
    this.isNew = isNew === 1;
  }

  /**
   * Opens a world at its latest snapshot, or before its first command.
   *
   * @param source the scenario of a new world; null to create none
   * @returns null when it does not exist
   * @throws Refusal STORE_UNAVAILABLE, also for a world that only a newer program can read
   */
  static async open(
    id: string,
    keys: WorldKeys,
    parts: CopyParts,
    source: ScenarioSource | null,
    keptMs: number,
  ): Promise<WorldCopy | null> {
    const { store } = parts;
    const opening = source === null ? '' : commandText({ kind: 'open', source }, ANYTHING);
    const { head, log, journal, events, snapshot } = keys;
    const args = [head, log, journal, events, snapshot, FORMAT, keptMs, store.server, opening];
    for (let tried = 0; tried < TRIES; tried += 1) {
      const opened = await store.reliably(() => store.script<Opened | []>('open', ...args), head);
      if (opened.length === 0) return null;
      if (opened[1] > FORMAT) throw store.newerFormat(head, opened[1]);
      const copy = new WorldCopy(id, parts, opened);
      if (copy.snapshotPosition === 0) return copy;
      const stored = await readState(store, snapshot, parts.compiler, parts.wallClock);
      if (stored?.epoch !== copy.epoch) continue; // replaced meanwhile
      copy.#state = stored.state;
      copy.place = { position: stored.position, name: stored.name };
      copy.snapshotPosition = stored.position;
      return copy;
    }
    throw storeUnavailable();
  }

  /** Null before its first command. */
  get state(): WorldState | null {
    return this.#state;
  }

  /**
   * Applies the next command of the log.
   *
   * @returns the command and its result; null for the command that opens the log
   * @throws LogMoved; and what `apply` throws, which is a bug, and the same on every server
   */
  async applyEntry({ position, name, wallMs, text }: LogEntry): Promise<AppliedEntry | null> {
    const [room, stored] = readCommand(text);
    await this.#prepare(stored);
    if (stored.kind === 'open') {
      this.#state = openWorld(this.#id, stored.source, wallMs, this.#parts.compiler);
      this.place = { position, name };
      return null;
    }
    const command = stored.kind === 'restore' ? await this.#restored(stored) : stored;
    return { command, outcome: this.applyCommand({ position, name }, wallMs, command, room) };
  }

  /** Applies a command of this server, which is the next of the log. */
  applyCommand(place: Place, wallMs: number, command: Command, room: Room): Applied {
    const state = this.#state;
    invariant(state !== null, 'a log begins with the command that opens its world');
    this.place = place;
    return apply(state, command, stampOf(state, wallMs, room), this.#parts.compiler);
  }

  /** Compiles the scenario of a command in steps, so that nothing else has to wait. `apply` reports its errors. */
  async #prepare(command: StoredCommand): Promise<void> {
    const source = 'source' in command ? command.source : 'scenario' in command ? command.scenario : null;
    if (source === null) return;
    const { compiler, wallClock } = this.#parts;
    await inTurns(compiler.prepare(source), () => wallClock.yieldToEventLoop()).catch(() => undefined);
  }

  async #restored({ key, clock }: StoredRestore): Promise<RestoreCommand> {
    const { store, compiler, wallClock } = this.#parts;
    const stored = await readState(store, key, compiler, wallClock);
    if (stored === null) throw new LogMoved();
    return { kind: 'restore', state: stored.state, clock };
  }
}

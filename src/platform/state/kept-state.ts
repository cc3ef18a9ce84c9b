import type { Refusal } from '../../contract/errors.ts';
import { snapshotText } from '../../log/snapshot-text.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import { readUnlessDropped, type WorldLog } from '../../log/world-log.ts';
import type { ScenarioCompiler } from '../../scenario/scenario.ts';
import { takeSnapshot, type Snapshot } from '../../world/snapshot.ts';
import type { WorldState } from '../../world/state.ts';
import {
  keepDamaged,
  prepareStateFolder,
  readStateFile,
  StateFileError,
  writeStateFile,
  writtenAtMs,
} from './state-file.ts';

interface KeptStateOptions {
  readonly file: string;
  /** How often it is written besides at the stop, in ms of wall time. */
  readonly everyMs: number | 'off';
  readonly log: WorldLog;
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  /** It was written, with so many worlds. */
  readonly written: (worlds: number) => void;
  readonly failed: (error: unknown) => void;
  /** Something in it could not be restored. */
  readonly damaged: (damage: Damage) => void;
}

/** A part of a state file that could not be restored. */
interface Damage {
  /** Null when it is the file as a whole, and not one world. */
  readonly worldId: string | null;
  readonly reason: string;
  /** The copy of the file, as it was. */
  readonly copy: string;
}

/** What a state file held. */
export interface Restored {
  readonly worlds: number;
  readonly payouts: number;
  /** How long ago it was written, in ms of wall time. */
  readonly ageMs: number;
}

/** All worlds of a sandbox in a file: read at the start, written at the stop and every so often. */
export class KeptState {
  readonly #options: KeptStateOptions;
  #cancel: (() => void) | null = null;
  #writing: Promise<unknown> | null = null;
  /** How often worlds had been used when they were written last. */
  #writtenAtUses = 0;

  constructor(options: KeptStateOptions) {
    this.#options = options;
  }

  /**
   * Restores the worlds that the file holds. World time has gone on meanwhile, where it was running. A damaged world costs
   * only itself; the file is then kept under another name.
   *
   * @returns what was restored; null when there is no file
   * @throws StateFileError when the file is there and cannot be used, or could not be written
   */
  async restore(): Promise<Restored | null> {
    const { file, wallClock, damaged } = this.#options;
    await prepareStateFolder(file);
    const atMs = await writtenAtMs(file);
    if (atMs === null) return null;
    const faults: { readonly id: string | null; readonly fault: Refusal }[] = [];
    const restored = { worlds: 0, payouts: 0, ageMs: Math.max(0, Math.round(wallClock.nowMs() - atMs)) };
    for await (const read of this.#read()) {
      if ('fault' in read) faults.push(read);
      else {
        restored.worlds += 1;
        restored.payouts += read.state.payouts.length;
        await this.#put(read.id, read.state, restored.worlds);
      }
    }
    this.#refuseTooMany(restored.worlds);
    if (faults.length > 0) {
      const copy = await keepDamaged(file);
      for (const { id, fault } of faults) damaged({ worldId: id, reason: fault.message, copy });
    }
    return restored;
  }

  /** Writes the file at intervals from now on, when there was a request since the last time. */
  start(): void {
    const { everyMs, wallClock, failed, log } = this.#options;
    if (everyMs === 'off') return;
    const round = (): void => {
      const written = log.uses === this.#writtenAtUses ? Promise.resolve() : this.write();
      void written.catch(failed).finally(() => {
        if (this.#cancel !== null) this.#cancel = wallClock.schedule(wallClock.nowMs() + everyMs, round);
      });
    };
    this.#cancel = wallClock.schedule(wallClock.nowMs() + everyMs, round);
  }

  /** Writes for the last time. */
  async end(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    await this.write();
  }

  /** Writes the file; after one another, if it is asked for twice. */
  async write(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    const { file, log, written } = this.#options;
    const { uses } = log; // what comes while it is written may be missing in it
    let worlds = 0;
    const text = snapshotText(this.#snapshots(() => (worlds += 1)));
    const work = writeStateFile(file, text);
    this.#writing = work.catch(() => undefined);
    await work.finally(() => (this.#writing = null));
    this.#writtenAtUses = uses;
    written(worlds);
  }

  async *#snapshots(counted: () => void): AsyncGenerator<Snapshot> {
    const { log, wallClock } = this.#options;
    for (const { world } of log.list()) {
      const snapshot = await readUnlessDropped(world, takeSnapshot);
      if (snapshot !== null) {
        counted();
        yield snapshot;
      }
      await wallClock.yieldToEventLoop();
    }
  }

  /** @throws StateFileError also when there is no room for a world, which is no damage */
  async *#read(): ReturnType<typeof readStateFile> {
    const { file, log, compiler, wallClock } = this.#options;
    const draft = log.draft();
    try {
      for await (const read of readStateFile(file, { compiler, wallClock, draft })) {
        draft.end(); // the world counts by itself from here on
        if ('fault' in read && read.fault.code === 'SANDBOX_FULL') throw this.#unusable(read.id, read.fault);
        yield read;
      }
    } finally {
      draft.end();
    }
  }

  /** @param nth which world of the file it is, from 1 */
  async #put(id: string, state: WorldState, nth: number): Promise<void> {
    const { log } = this.#options;
    if (nth > log.maxWorlds) return; // the start will be refused: they are only counted
    await log.use(id).submit({ kind: 'restore', state, clock: 'ran-on' });
  }

  #refuseTooMany(worlds: number): void {
    const { file, log } = this.#options;
    if (worlds <= log.maxWorlds) return;
    throw new StateFileError(
      `the state file ${file} cannot be used: it has ${worlds} worlds, and SANDBOX_MAX_WORLDS is ${log.maxWorlds}`,
    );
  }

  #unusable(id: string | null, { message }: Refusal): StateFileError {
    return new StateFileError(`the state file ${this.#options.file} cannot be used: world ${id}: ${message}`);
  }
}

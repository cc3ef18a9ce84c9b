import { stat } from 'node:fs/promises';
import { Refusal } from '../contract/errors.ts';
import type { WallClock } from '../log/wall-clock.ts';
import type { Worlds } from '../log/worlds.ts';
import type { Snapshots } from './snapshots.ts';
import {
  prepareStateFolder,
  readStateFile,
  StateFileError,
  writeStateFile,
  type KeptWorld,
} from './state-file.ts';

interface KeptStateOptions {
  readonly file: string;
  /** How often it is written besides at the stop, in ms of wall time. */
  readonly everyMs: number | 'off';
  readonly worlds: Worlds;
  readonly snapshots: Snapshots;
  readonly wallClock: WallClock;
  /** It was written, with so many worlds. */
  readonly written: (worlds: number) => void;
  readonly failed: (error: unknown) => void;
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
   * Makes the worlds that the file holds. World time has gone on meanwhile, where it was running.
   *
   * @returns what it held; null when there is no file
   * @throws StateFileError when the file is there and cannot be used, or could not be written
   */
  async restore(): Promise<Restored | null> {
    const { file, worlds, snapshots, wallClock } = this.#options;
    const kept = await readStateFile(file);
    await prepareStateFolder(file);
    if (kept === null) return null;
    if (kept.length > worlds.max) {
      throw new StateFileError(
        `the state file ${file} cannot be used: it has ${kept.length} worlds, and SANDBOX_MAX_WORLDS is ${worlds.max}`,
      );
    }
    const { mtimeMs } = await stat(file);
    for (const { id, state } of kept) {
      try {
        await snapshots.put(worlds.withId(id), state);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new StateFileError(`the state file ${file} cannot be used: world ${id}: ${error.message}`);
      }
    }
    return {
      worlds: kept.length,
      payouts: kept.reduce((sum, { state }) => sum + state.transactions.length, 0),
      ageMs: Math.max(0, Math.round(wallClock.nowMs() - mtimeMs)),
    };
  }

  /** Writes from now on every so often, when anything was asked since. */
  start(): void {
    const { everyMs, wallClock, failed } = this.#options;
    if (everyMs === 'off') return;
    const round = (): void => {
      const written = this.#options.worlds.uses === this.#writtenAtUses ? Promise.resolve() : this.write();
      void written.catch(failed).finally(() => {
        if (this.#cancel !== null) this.#cancel = wallClock.alarm(wallClock.nowMs() + everyMs, round);
      });
    };
    this.#cancel = wallClock.alarm(wallClock.nowMs() + everyMs, round);
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
    const { file, worlds, written } = this.#options;
    const { uses } = worlds; // what comes while it is written may be missing in it
    const work = writeStateFile(file, this.#kept());
    this.#writing = work.catch(() => undefined);
    const count = await work.finally(() => (this.#writing = null));
    this.#writtenAtUses = uses;
    written(count);
  }

  async *#kept(): AsyncGenerator<KeptWorld> {
    const { worlds, wallClock } = this.#options;
    for (const { world } of worlds.list()) {
      const state = await world.state().catch((error: unknown) => {
        if (world.book.isClosed) return null; // dropped meanwhile
        throw error;
      });
      if (state !== null) yield { id: world.id, state };
      await wallClock.letOthersRun();
    }
  }
}

import { Refusal } from '../contract/errors.ts';
import type { WallClock } from '../domain/wall-clock.ts';
import type { Worlds } from '../domain/worlds.ts';
import type { Snapshots } from './snapshots.ts';
import {
  checkStateFolder,
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

/** All worlds of a sandbox in a file: read at the start, written at the stop and every so often. */
export class KeptState {
  readonly #options: KeptStateOptions;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;
  /** How often worlds had been used when they were written last. */
  #writtenAtUses = 0;

  constructor(options: KeptStateOptions) {
    this.#options = options;
  }

  /**
   * Makes the worlds that the file holds. World time has gone on meanwhile, where it was running.
   *
   * @returns how many; null when there is no file
   * @throws StateFileError when the file is there and cannot be used, or could not be written
   */
  async restore(): Promise<number | null> {
    const { file, worlds, snapshots } = this.#options;
    const kept = await readStateFile(file);
    await checkStateFolder(file);
    if (kept === null) return null;
    for (const { id, state } of kept) {
      try {
        await snapshots.put(worlds.withId(id), state);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new StateFileError(`the state file ${file} cannot be used: world ${id}: ${error.message}`);
      }
    }
    return kept.length;
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
    this.#writtenAtUses = worlds.uses;
    const work = writeStateFile(file, this.#kept()).then(written);
    this.#writing = work.catch(() => undefined);
    await work.finally(() => (this.#writing = null));
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

import { takeSnapshot } from '../../world/snapshot.ts';
import type { WorldState } from '../../world/state.ts';
import type { WorldObserver } from '../world-log.ts';
import { FORMAT, type WorldKeys } from './scripts/scripts.ts';
import type { StoreConnection } from './store-connection.ts';
import { writeState } from './stored/stored-snapshot.ts';
import type { WorldCopy } from './world-copy.ts';

interface Parts {
  readonly store: StoreConnection;
  readonly observer: WorldObserver;
  readonly idleMs: number;
}

const AFTER_COMMANDS = 2000;
const RENEWED_AFTER = 0.05; // of the time that the keys are kept

/** How long the keys of a world are kept: somewhat longer than it may be idle, since not every call renews that. */
export const keptMs = (idleMs: number): number => Math.ceil(idleMs * (1 + 2 * RENEWED_AFTER));
export const renewedMs = (idleMs: number): number => idleMs * RENEWED_AFTER;

/** Writes a snapshot of a world now and then, so that its log does not grow for ever. */
export class Compaction {
  readonly #keys: WorldKeys;
  readonly #parts: Parts;
  #running: Promise<void> | null = null;
  /** Whether there was a restore, which takes its state from beside the log: a snapshot makes that superfluous. */
  #isNeeded = false;

  constructor(keys: WorldKeys, parts: Parts) {
    this.#keys = keys;
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Writes a snapshot after a restore, and when the log since the latest one is long compared to the state. */
  consider(copy: WorldCopy, hasRestored: boolean): void {
    this.#isNeeded ||= hasRestored;
    const { place, snapshotPosition, state } = copy;
    if (state === null || this.isRunning) return;
    const isLong = place.position - snapshotPosition > Math.max(AFTER_COMMANDS, 2 * state.payouts.length);
    if (!isLong && !this.#isNeeded) return;
    this.#running = this.#write(copy, state).finally(() => (this.#running = null));
  }

  async #write(copy: WorldCopy, state: WorldState): Promise<void> {
    const { store, idleMs, observer } = this.#parts;
    const { place, epoch, snapshotPosition } = copy;
    const { head, log, snapshot } = this.#keys;
    const key = `${snapshot}:${store.server}:${place.position}`;
    const isNeeded = this.#isNeeded;
    this.#isNeeded = false;
    try {
      const stateHead = { ...place, epoch, generation: state.generation, held: state.held };
      await writeState(store, key, stateHead, takeSnapshot(state), keptMs(idleMs));
      const args = [
        head,
        log,
        snapshot,
        key,
        epoch,
        snapshotPosition,
        place.position,
        FORMAT,
        keptMs(idleMs),
      ];
      copy.snapshotPosition = await store.reliably(() => store.script<number>('compact', ...args));
    } catch (error) {
      this.#isNeeded ||= isNeeded;
      if (!store.isAway) observer.failed(state.id, error);
    }
  }
}

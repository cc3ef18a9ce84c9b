import { Refusal } from '../../contract/errors.ts';
import { takeSnapshot } from '../../world/snapshot.ts';
import type { WorldObserver } from '../world-log.ts';
import { FORMAT, keysOf, restoredKeyOf, type WorldKeys } from './scripts/scripts.ts';
import type { StoreConnection } from './store-connection.ts';
import { writeState, type Place } from './stored/stored-snapshot.ts';
import type { WorldCopy } from './world-copy.ts';

interface Parts {
  readonly store: StoreConnection;
  readonly observer: WorldObserver;
  readonly idleMs: number;
}

const AFTER_COMMANDS = 2000;
/** How long the state of a restore is kept once a snapshot includes it, for servers that are about to apply it. */
const SUPERSEDED_MS = 60_000;
const LOOKED_AT_MS = 60_000;
const RENEWED_AFTER = 0.05; // of the time that the keys are kept

/**
 * How long the keys of a world are kept: longer than it may be idle, since not every call renews them, and since a server that
 * drops the world reads it first.
 */
export const keptMs = (idleMs: number): number => Math.ceil(idleMs * (1 + 2 * RENEWED_AFTER)) + LOOKED_AT_MS;
export const renewedMs = (idleMs: number): number => idleMs * RENEWED_AFTER;

/** Writes a snapshot of a world now and then, so that its log does not grow for ever. */
export class Compaction {
  readonly #worldId: string;
  readonly #keys: WorldKeys;
  readonly #parts: Parts;
  #running: Promise<void> | null = null;
  /** The restores that the snapshot does not include yet: their states are stored outside the log. */
  #restores: Place[] = [];

  constructor(worldId: string, parts: Parts) {
    this.#worldId = worldId;
    this.#keys = keysOf(worldId);
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Writes a snapshot after a restore, and when the log since the latest one is long compared to the state. */
  consider(copy: WorldCopy, restores: readonly Place[]): void {
    this.#restores.push(...restores);
    if (!this.isRunning && this.#isNeeded(copy)) {
      this.#running = this.#write(copy).finally(() => (this.#running = null));
    }
  }

  #isNeeded({ place, snapshotPosition, state }: WorldCopy): boolean {
    if (state === null) return false;
    this.#restores = this.#restores.filter(({ position }) => position > snapshotPosition);
    const isLong = place.position - snapshotPosition > Math.max(AFTER_COMMANDS, 2 * state.payouts.length);
    return isLong || this.#restores.length > 0;
  }

  async #write(copy: WorldCopy): Promise<void> {
    const { store, idleMs, observer } = this.#parts;
    const { client } = store;
    const { head, log, snapshot } = this.#keys;
    try {
      copy.snapshotPosition = Number(await store.reliably(() => client.hget(head, 'snapshot')));
      const { place, epoch, snapshotPosition, state } = copy;
      if (state === null || !this.#isNeeded(copy)) return; // another server was first
      const restores = [...this.#restores];
      const key = `${snapshot}:${store.server}:${place.position}`;
      const stateHead = { ...place, epoch, generation: state.generation, held: state.held };
      await writeState(store, key, stateHead, takeSnapshot(state), keptMs(idleMs));
      const positions = [snapshotPosition, place.position, FORMAT, keptMs(idleMs)];
      copy.snapshotPosition = await store.reliably(() =>
        store.script<number>('compact', head, log, snapshot, key, epoch, ...positions),
      );
      if (copy.snapshotPosition < place.position) return; // another server was quicker
      for (const { name } of restores) {
        const restored = restoredKeyOf(this.#keys, name);
        await store.reliably(() => client.pexpire(restored, SUPERSEDED_MS));
      }
    } catch (error) {
      if (!(error instanceof Refusal)) observer.failed(this.#worldId, error); // the store or its node is unavailable, or this server stops
    }
  }
}

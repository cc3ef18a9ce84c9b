import type { ClockState } from '../contract/snapshot-lines.ts';
import { wallTimeMs } from '../world/state.ts';

/** Time outside all worlds. It is handed in, so that no other part reads it from the system. */
export interface WallClock {
  /** ms since the epoch; never less than it was before, even if the machine's clock is set back. */
  nowMs(): number;
  /**
   * Calls back once, at about `atMs` or somewhat earlier for a distant time, and keeps no process alive for it.
   *
   * @returns a function that calls it off
   */
  schedule(atMs: number, callback: () => void): () => void;
  /** Resolves after everything else that waits has run once: for long work that shares its process with others. */
  yieldToEventLoop(): Promise<void>;
}

/** Calls back when the next step of a world is due. Settlement is right without it; it only announces a change at its time. */
export class SettlementTimer {
  readonly #wallClock: WallClock;
  readonly #callback: () => void;
  #scheduled: { readonly wallMs: number; readonly cancel: () => void } | null = null;

  constructor(wallClock: WallClock, callback: () => void) {
    this.#wallClock = wallClock;
    this.#callback = callback;
  }

  /** Schedules the callback, in the place of what was scheduled. @param dueMs world time; null for none */
  set(dueMs: number | null, clock: ClockState): void {
    const wallMs = dueMs === null ? null : wallTimeMs(clock, dueMs);
    if (wallMs === (this.#scheduled?.wallMs ?? null)) return;
    this.#scheduled?.cancel();
    this.#scheduled = null;
    if (wallMs === null) return;
    const callback = (): void => {
      this.#scheduled = null;
      this.#callback();
    };
    this.#scheduled = { wallMs, cancel: this.#wallClock.schedule(wallMs, callback) };
  }
}

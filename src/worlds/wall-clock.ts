import type { ClockState } from '../payout/settlement.ts';
import { wallTimeMs } from '../world/state.ts';

/** Time outside all worlds. It is passed in, so that no other part reads it from the system. */
export interface WallClock {
  /** ms since the epoch; never less than before, even if the machine's clock is set back. */
  nowMs(): number;
  /** Calls back once, at about `atMs`, or before a distant time. It keeps no process alive. @returns a function that cancels it */
  schedule(atMs: number, callback: () => void): () => void;
  /** Calls back once the work that is ready now has been done. */
  nextTurn(callback: () => void): void;
  /** Resolves after all other waiting work has run once: for long work that shares its process. */
  yieldToEventLoop(): Promise<void>;
}

/** Calls back when the next step of a world is due. Settlement is correct without it; it only makes changes known on time. */
export class SettlementTimer {
  readonly #wallClock: WallClock;
  readonly #callback: () => void;
  #scheduled: { readonly wallMs: number; readonly cancel: () => void } | null = null;

  constructor(wallClock: WallClock, callback: () => void) {
    this.#wallClock = wallClock;
    this.#callback = callback;
  }

  /** Schedules the callback, instead of what was scheduled before. @param dueMs world time; null for none */
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

/** A clock with another time, and the timers of this one. */
export const clockAt = (time: { nowMs(): number }, wallClock: WallClock): WallClock => ({
  nowMs: () => time.nowMs(),
  schedule: (atMs, callback) => wallClock.schedule(atMs - time.nowMs() + wallClock.nowMs(), callback),
  nextTurn: (callback) => wallClock.nextTurn(callback),
  yieldToEventLoop: () => wallClock.yieldToEventLoop(),
});

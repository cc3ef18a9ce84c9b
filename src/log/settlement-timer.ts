import type { ClockState } from '../contract/snapshot-lines.ts';
import { wallTimeMs } from '../world/clock.ts';
import type { WallClock } from './wall-clock.ts';

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

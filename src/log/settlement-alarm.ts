import { wallTimeMs, type WorldClock } from '../world/clock.ts';
import type { WallClock } from './wall-clock.ts';

/** Rings when the next step of a world is due. Settlement is right without it; it only announces a change at its time. */
export class SettlementAlarm {
  readonly #wallClock: WallClock;
  readonly #ring: () => void;
  #set: { readonly dueMs: number; readonly cancel: () => void } | null = null;

  constructor(wallClock: WallClock, ring: () => void) {
    this.#wallClock = wallClock;
    this.#ring = ring;
  }

  /** Sets it, in the place of what it was set to. @param dueMs world time; null for no alarm */
  set(dueMs: number | null, clock: WorldClock): void {
    const wallMs = dueMs === null ? null : wallTimeMs(clock, dueMs);
    if (wallMs === null || dueMs === null) {
      this.#set?.cancel();
      this.#set = null;
    } else if (this.#set?.dueMs !== dueMs) {
      this.#set?.cancel();
      const ring = (): void => {
        this.#set = null;
        this.#ring();
      };
      this.#set = { dueMs, cancel: this.#wallClock.alarm(wallMs, ring) };
    }
  }
}

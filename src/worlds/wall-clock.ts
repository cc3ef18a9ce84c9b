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

/** A clock with another time, and the timers of this one. */
export const clockAt = (time: { nowMs(): number }, wallClock: WallClock): WallClock => ({
  nowMs: () => time.nowMs(),
  schedule: (atMs, callback) => wallClock.schedule(atMs - time.nowMs() + wallClock.nowMs(), callback),
  nextTurn: (callback) => wallClock.nextTurn(callback),
  yieldToEventLoop: () => wallClock.yieldToEventLoop(),
});

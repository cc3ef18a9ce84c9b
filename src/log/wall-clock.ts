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

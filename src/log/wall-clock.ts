/** Time outside all worlds. Handed in, so that no part of the domain reads it from the system. */
export interface WallClock {
  /** ms since the epoch; never less than it was before. */
  nowMs(): number;
  /**
   * Calls `ring` once, at about `atMs` or somewhat earlier for a distant time, and keeps no process alive for it.
   *
   * @returns a function that calls it off
   */
  alarm(atMs: number, ring: () => void): () => void;
  /** Lets all other work that waits run first: for a long task that shares its process with others. */
  letOthersRun(): Promise<void>;
}

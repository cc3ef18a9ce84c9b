/** The delayed responses of one world, as functions that end them. */
export class DelayedResponses {
  readonly #begun: () => void;
  /** Null until the first: most worlds delay no responses. */
  #ends: Set<() => void> | null = null;
  #isOver = false;
  #isForGood = false;

  /** @param begun called when a response begins to wait */
  constructor(begun: () => void = () => undefined) {
    this.#begun = begun;
  }

  /**
   * Registers a delayed response, until the returned function is called.
   *
   * @param end called when the responses are released earlier, or at once when they have been released for good
   */
  hold(end: () => void): () => void {
    if (this.#isOver) {
      end();
      return () => undefined;
    }
    this.#begun();
    const ends = (this.#ends ??= new Set());
    ends.add(end);
    return () => ends.delete(end);
  }

  get isEmpty(): boolean {
    return this.#ends === null || this.#ends.size === 0;
  }

  /** Whether the world or the sandbox has ended, too; a reset ends only the responses. */
  get isForGood(): boolean {
    return this.#isForGood;
  }

  /** Ends all responses. @param forGood when the world or the sandbox ends */
  release(forGood = false): void {
    this.#isForGood ||= forGood;
    for (const end of this.#ends ?? []) end();
    this.#ends?.clear();
  }

  /** Ends all responses, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release(true);
  }
}

/** The answers that one world holds back, as functions that end them. */
export class HeldAnswers {
  readonly #ends = new Set<() => void>();
  #isOver = false;
  #isForGood = false;

  /**
   * Holds an answer back, until the function that is returned is called.
   *
   * @param end called when the answers are released before, or are for good already
   */
  hold(end: () => void): () => void {
    if (this.#isOver) {
      end();
      return () => undefined;
    }
    this.#ends.add(end);
    return () => this.#ends.delete(end);
  }

  /** Whether the world, or the sandbox, ends with its answers: a reset ends only them. */
  get isForGood(): boolean {
    return this.#isForGood;
  }

  /** Ends all of them. @param forGood when the world or the sandbox ends */
  release(forGood = false): void {
    this.#isForGood ||= forGood;
    for (const end of this.#ends) end();
    this.#ends.clear();
  }

  /** Ends all of them, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release(true);
  }
}

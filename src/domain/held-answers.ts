/** The answers that one world holds back, as functions that end them. */
export class HeldAnswers {
  readonly #ends = new Set<() => void>();
  #isOver = false;

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

  /** Ends all of them. */
  release(): void {
    for (const end of this.#ends) end();
    this.#ends.clear();
  }

  /** Ends all of them, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release();
  }
}

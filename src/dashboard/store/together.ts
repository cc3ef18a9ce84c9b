/** Runs one task on request: never twice at once, and once for all requests that arrive while it runs. */
export class Together {
  readonly #act: () => Promise<void>;
  readonly #restMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;
  #isOrdered = false;

  /** @param restMs the shortest pause between two runs */
  constructor(act: () => Promise<void>, restMs: number) {
    this.#act = act;
    this.#restMs = restMs;
  }

  order(): void {
    this.#isOrdered = true;
    if (!this.#isBusy) void this.#run();
  }

  close(): void {
    this.#isBusy = true;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    this.#isOrdered = false;
    await this.#act();
    this.#timer = setTimeout(() => {
      this.#isBusy = false;
      if (this.#isOrdered) this.order();
    }, this.#restMs);
  }
}

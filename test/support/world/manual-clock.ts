import type { WallClock } from '../../../src/worlds/wall-clock.ts';

/** A wall clock that moves only when a test moves it, and then runs the callbacks that come due. */
export class ManualClock implements WallClock {
  #nowMs: number;
  /** How often long work gave others a turn. */
  turns = 0;
  /** What others do in such a turn. */
  others: () => unknown = () => undefined;
  readonly #scheduled = new Map<() => void, number>();

  constructor(nowMs = Date.UTC(2026, 0, 15, 10, 30)) {
    this.#nowMs = nowMs;
  }

  /** How many callbacks are scheduled. */
  get timers(): number {
    return this.#scheduled.size;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  schedule(atMs: number, callback: () => void): () => void {
    const once = (): void => callback();
    this.#scheduled.set(once, atMs);
    return () => this.#scheduled.delete(once);
  }

  nextTurn(callback: () => void): void {
    setImmediate(callback);
  }

  async yieldToEventLoop(): Promise<void> {
    this.turns += 1;
    await this.others();
  }

  /** Lets time pass unnoticed: nothing is called back, as if the process had stood still. */
  skip(byMs: number): void {
    this.#nowMs += byMs;
  }

  /** Moves forward by `byMs`, runs the callbacks that come due, and lets the event loop turn after each. */
  async pass(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      const [callback, atMs] = [...this.#scheduled].toSorted((a, b) => a[1] - b[1])[0] ?? [];
      if (callback === undefined || atMs === undefined || atMs > endMs) break;
      this.#scheduled.delete(callback);
      this.#nowMs = Math.max(this.#nowMs, atMs);
      callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = endMs;
  }
}

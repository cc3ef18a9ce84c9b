import type { WallClock } from '../../src/log/wall-clock.ts';

/** Wall time that moves when a test says so. What is scheduled is called on the way. */
export class ManualClock implements WallClock {
  #nowMs: number;
  readonly #alarms = new Map<() => void, number>();

  constructor(nowMs = Date.UTC(2026, 0, 15, 10, 30)) {
    this.#nowMs = nowMs;
  }

  get alarms(): number {
    return this.#alarms.size;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  schedule(atMs: number, callback: () => void): () => void {
    const once = (): void => callback();
    this.#alarms.set(once, atMs);
    return () => this.#alarms.delete(once);
  }

  async yieldToEventLoop(): Promise<void> {}

  /** Moves on by `byMs`, calls what is due on the way, and lets what that started finish. */
  async pass(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      const [callback, atMs] = [...this.#alarms].toSorted((a, b) => a[1] - b[1])[0] ?? [];
      if (callback === undefined || atMs === undefined || atMs > endMs) break;
      this.#alarms.delete(callback);
      this.#nowMs = Math.max(this.#nowMs, atMs);
      callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = endMs;
  }
}

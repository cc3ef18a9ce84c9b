import type { WallClock } from '../../src/log/wall-clock.ts';

/** Wall time in the test's hand: it moves when told, and its alarms ring on the way. */
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

  alarm(atMs: number, ring: () => void): () => void {
    const once = (): void => ring();
    this.#alarms.set(once, atMs);
    return () => this.#alarms.delete(once);
  }

  async letOthersRun(): Promise<void> {}

  /** Moves on by `byMs`, rings what is due on the way, and lets what that started finish. */
  async pass(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    for (;;) {
      const [ring, atMs] = [...this.#alarms].toSorted((a, b) => a[1] - b[1])[0] ?? [];
      if (ring === undefined || atMs === undefined || atMs > endMs) break;
      this.#alarms.delete(ring);
      this.#nowMs = Math.max(this.#nowMs, atMs);
      ring();
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#nowMs = endMs;
  }
}

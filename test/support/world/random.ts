import { createHash } from 'node:crypto';

/** Random draws for a trial. The same seed and name give the same draws, whatever else runs. */
export class Random {
  #state: number;

  constructor(seed: string, name: string) {
    this.#state = createHash('sha256').update(`${seed} ${name}`).digest().readUInt32LE();
  }

  /** A whole number from 0 to `end`, exclusive (mulberry32). */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  /** True with a probability of one in so many. */
  oneIn(times: number): boolean {
    return this.below(times) === 0;
  }
}

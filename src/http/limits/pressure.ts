/**
 * Looks at the memory of the process every 100 ms.
 *
 * @param look gets the part of the heap limit in use, without garbage, in percent, and whether there was a collection since memory
 *   was last short. It returns whether memory is short; if no collection comes by itself then, one is made
 * @returns a function that ends this
 */
export type Memory = (look: (percent: number, isCollected: boolean) => boolean) => () => void;

interface PressureOptions {
  readonly maxPercent: number;
  readonly memory: Memory;
  /** Gives memory up. @returns whether there was any */
  readonly relieve: () => boolean;
  readonly changed: (isHigh: boolean) => void;
}

/**
 * Whether memory is short. @fastify/under-pressure compares what is in use with its garbage, so that it refuses requests of a healthy
 * process; this looks at what its collections leave. First something is given up, and only when nothing is left, work is refused.
 */
export class Pressure {
  isHigh = false;
  readonly #options: PressureOptions;

  constructor(options: PressureOptions) {
    this.#options = options;
  }

  /** @returns a function that ends this */
  start(): () => void {
    const { memory, maxPercent, relieve, changed } = this.#options;
    return memory((percent, isCollected) => {
      const isShort = percent > maxPercent;
      const isHigh = isShort && ((isCollected && !relieve()) || this.isHigh);
      if (isHigh !== this.isHigh) changed(isHigh);
      this.isHigh = isHigh;
      return isShort;
    });
  }
}

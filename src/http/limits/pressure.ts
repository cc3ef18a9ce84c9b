/**
 * Looks at the memory of the process every 100 ms.
 *
 * @param look is told how much of the heap limit is in use, without garbage, in percent, and whether a collection found that out since it
 *   was short last. It returns whether memory is short: then a collection is made if none comes by itself
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

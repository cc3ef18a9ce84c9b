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
export function pressureOf({ memory, maxPercent, relieve, changed }: PressureOptions) {
  const pressure = {
    isHigh: false,
    /** @returns a function that ends this */
    start: () =>
      memory((percent, isCollected) => {
        const isShort = percent > maxPercent;
        const isHigh = isShort && ((isCollected && !relieve()) || pressure.isHigh);
        if (isHigh !== pressure.isHigh) changed(isHigh);
        pressure.isHigh = isHigh;
        return isShort;
      }),
  };
  return pressure;
}
export type Pressure = ReturnType<typeof pressureOf>;

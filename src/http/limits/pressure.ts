/** How many looks at a memory that is short go by until a collection is asked for: an idle process makes none by itself. */
const LOOKS_TO_COLLECT = 20;

/** What a process has in memory. */
export interface Memory {
  /** How much of the heap limit is in use, without garbage, in percent. */
  readonly percent: () => number;
  /** How many whole collections there were. */
  readonly collections: number;
  readonly collect: () => void;
  /** Calls back every 100 ms. @returns a function that ends this */
  readonly watch: (look: () => void) => () => void;
}

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
  /** The collection after which something was given up, or nothing was left; and the looks since then. */
  #handled = 0;
  #looks = 0;

  constructor(options: PressureOptions) {
    this.#options = options;
  }

  /** @returns a function that ends this */
  start(): () => void {
    return this.#options.memory.watch(() => this.#look());
  }

  #look(): void {
    const { memory, maxPercent, relieve } = this.#options;
    this.#looks += 1;
    if (memory.percent() <= maxPercent) this.#set(false);
    else if (memory.collections > this.#handled) {
      this.#handled = memory.collections;
      this.#looks = 0;
      if (!relieve()) this.#set(true);
    } else if (this.#looks >= LOOKS_TO_COLLECT) {
      this.#looks = 0;
      memory.collect();
    }
  }

  #set(isHigh: boolean): void {
    if (isHigh === this.isHigh) return;
    this.isHigh = isHigh;
    this.#options.changed(isHigh);
  }
}

import type { RouteName } from '../contract/scenario.ts';

const MAX_PER_WORLD = 10_000;
const MAX_ID_LENGTH = 128;

/** How many counters all worlds together may hold, and how many they do. */
export interface AttemptBudget {
  readonly max: number;
  held: number;
}

/**
 * How often one world was asked for each reference. Bounded: the references that were not used for longest are forgotten,
 * and counted from 1 again.
 */
export class Attempts {
  readonly #counts = new Map<string, number>();
  readonly #budget: AttemptBudget;

  constructor(budget: AttemptBudget) {
    this.#budget = budget;
  }

  /** Counts one more. @returns 1 for the first; always 1 for an id that no payout can have */
  next(route: RouteName, id: string): number {
    if (id.length > MAX_ID_LENGTH) return 1;
    const key = `${route} ${id}`;
    const attempt = (this.#counts.get(key) ?? 0) + 1;
    if (attempt > 1) this.#counts.delete(key);
    else this.#makeRoom();
    this.#counts.set(key, attempt);
    return attempt;
  }

  /** The counters, those used longest ago first. */
  get counts(): readonly (readonly [string, number])[] {
    return [...this.#counts];
  }

  /** Counts on from other counters. */
  restore(counts: readonly (readonly [string, number])[]): void {
    this.clear();
    for (const [key, count] of counts.slice(-MAX_PER_WORLD)) {
      this.#makeRoom();
      this.#counts.set(key, count);
    }
  }

  clear(): void {
    this.#budget.held -= this.#counts.size;
    this.#counts.clear();
  }

  /** Gives up a counter of this world for a new one, where it or the sandbox has too many. */
  #makeRoom(): void {
    this.#budget.held += 1;
    if (this.#counts.size < MAX_PER_WORLD && this.#budget.held <= this.#budget.max) return;
    for (const oldest of this.#counts.keys()) {
      this.#counts.delete(oldest);
      this.#budget.held -= 1;
      return;
    }
  }
}

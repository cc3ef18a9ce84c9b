import type { RouteName } from '../contract/scenario.ts';

const MAX_PER_WORLD = 10_000;
const MAX_ID_LENGTH = 128;

/** How many counters all worlds together may hold, and how many they do. */
export interface AttemptBudget {
  readonly max: number;
  held: number;
}

type Counts = [key: string, count: number][];

/** The counters of a world, as plain data. */
export interface AttemptCounts {
  readonly old: Counts;
  readonly young: Counts;
}

/**
 * How often one world was asked for each reference. Bounded: the references that were not used for longest are forgotten,
 * many at once, and counted from 1 again.
 */
export class Attempts {
  /** What was used lately; and what was used before that, until so much is used that it is forgotten. */
  #young = new Map<string, number>();
  #old = new Map<string, number>();
  readonly #budget: AttemptBudget;

  constructor(budget: AttemptBudget) {
    this.#budget = budget;
  }

  /** Counts one more. @returns 1 for the first; always 1 for an id that no payout can have */
  next(route: RouteName, id: string): number {
    if (id.length > MAX_ID_LENGTH) return 1;
    const key = `${route} ${id}`;
    const known = this.#young.get(key);
    if (known !== undefined) {
      this.#young.set(key, known + 1);
      return known + 1;
    }
    const attempt = (this.#old.get(key) ?? 0) + 1;
    if (attempt > 1) this.#old.delete(key);
    else this.#budget.held += 1;
    this.#young.set(key, attempt);
    if (this.#young.size >= MAX_PER_WORLD / 2 || this.#budget.held > this.#budget.max) this.#age();
    return attempt;
  }

  /** All counters: those that are forgotten next, and those used lately. */
  get counts(): AttemptCounts {
    return { old: [...this.#old], young: [...this.#young] };
  }

  /** Counts on from other counters. */
  restore({ old, young }: AttemptCounts): void {
    this.clear();
    this.#old = new Map(old.slice(0, MAX_PER_WORLD / 2));
    this.#young = new Map(young.slice(0, MAX_PER_WORLD / 2));
    this.#budget.held += this.#old.size + this.#young.size;
    if (this.#budget.held > this.#budget.max) this.#age();
  }

  clear(): void {
    this.#budget.held -= this.#old.size + this.#young.size;
    this.#old = new Map();
    this.#young = new Map();
  }

  /** Forgets what was not used since the last time. */
  #age(): void {
    this.#budget.held -= this.#old.size;
    this.#old = this.#young;
    this.#young = new Map();
  }
}

/** Something that a history keeps, in the order of all that is kept anywhere in the sandbox. */
export interface Kept<T = unknown> {
  readonly item: T;
  readonly owner: History<T>;
  bytes: number;
  older: Kept | null;
  newer: Kept | null;
  isKept: boolean;
}

/** The memory that the histories of all worlds share. Past it, the oldest item of all is forgotten, whosever it is. */
export class HistoryBudget {
  readonly #maxBytes: number;
  #bytes = 0;
  #oldest: Kept | null = null;
  #newest: Kept | null = null;

  /** @param maxBytes about how much the histories of all worlds may hold */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes in one more, which is the newest of all. */
  add(kept: Kept): void {
    kept.older = this.#newest;
    if (this.#newest === null) this.#oldest = kept;
    else this.#newest.newer = kept;
    this.#newest = kept;
    this.grow(kept.bytes);
  }

  remove(kept: Kept): void {
    if (kept.older === null) this.#oldest = kept.newer;
    else kept.older.newer = kept.newer;
    if (kept.newer === null) this.#newest = kept.older;
    else kept.newer.older = kept.older;
    kept.older = null;
    kept.newer = null;
    this.#bytes -= kept.bytes;
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) this.#oldest!.owner.forgetOldest();
  }
}

/**
 * The latest things that happened, in order: bounded by their number, by their size, and by what all histories
 * together may hold. What had to make room is counted.
 */
export class History<T> {
  readonly #maxItems: number;
  readonly #maxBytes: number;
  readonly #budget: HistoryBudget;
  /** A queue: its first `#gone` places are empty. */
  #items: (Kept<T> | undefined)[] = [];
  #gone = 0;
  #bytes = 0;
  #evicted = 0;

  constructor(limits: { readonly items: number; readonly bytes: number }, budget: HistoryBudget) {
    this.#maxItems = limits.items;
    this.#maxBytes = limits.bytes;
    this.#budget = budget;
  }

  /** How many had to make room since it was last cleared. */
  get evicted(): number {
    return this.#evicted;
  }

  get size(): number {
    return this.#items.length - this.#gone;
  }

  /** @param bytes about how much memory it takes */
  add(item: T, bytes: number): Kept<T> {
    const kept: Kept<T> = { item, owner: this, bytes, older: null, newer: null, isKept: true };
    this.#items.push(kept);
    this.#bytes += bytes;
    this.#budget.add(kept);
    this.#makeRoom();
    return kept;
  }

  /** Says that an item has become larger. */
  grow(kept: Kept<T>, bytes: number): void {
    if (!kept.isKept) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    this.#budget.grow(bytes);
    this.#makeRoom();
  }

  /** Forgets the oldest item, to make room. */
  forgetOldest(): void {
    const oldest = this.#items[this.#gone];
    if (oldest === undefined) return;
    this.#items[this.#gone] = undefined;
    this.#gone += 1;
    this.#drop(oldest);
    this.#evicted += 1;
    if (this.#gone * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#gone);
      this.#gone = 0;
    }
  }

  /** Forgets all of it, and how much had to make room. */
  clear(): void {
    for (const kept of this.#items) if (kept !== undefined) this.#drop(kept);
    this.#items = [];
    this.#gone = 0;
    this.#evicted = 0;
  }

  /** What is kept, the oldest first. */
  items(): readonly T[] {
    return this.#items.slice(this.#gone).map((kept) => kept!.item);
  }

  #makeRoom(): void {
    while (this.size > this.#maxItems || this.#bytes > this.#maxBytes) this.forgetOldest();
  }

  #drop(kept: Kept<T>): void {
    kept.isKept = false;
    this.#bytes -= kept.bytes;
    this.#budget.remove(kept);
  }
}

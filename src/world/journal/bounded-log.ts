/** One item of a log. */
export interface Item<T> {
  /** undefined once it was dropped. */
  value: T | undefined;
  readonly log: BoundedLog<T>;
  bytes: number;
}

/** First in, first out. Taking the first from an array would move all others. */
class Queue<T> {
  #items: T[] = [];
  #taken = 0;

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const first = this.#items[this.#taken]!;
    this.#taken += 1;
    if (this.#taken * 2 > this.#items.length) this.keep(() => true);
    return first;
  }

  /** Drops the items that a test does not hold for. */
  keep(isKept: (item: T) => boolean): void {
    this.#items = this.items().filter(isKept);
    this.#taken = 0;
  }

  /** The first one first. */
  items(): readonly T[] {
    return this.#items.slice(this.#taken);
  }
}

/** The memory that the logs of all worlds share. Past it, the oldest item of all is dropped, whatever its world. */
export class MemoryBudget {
  readonly #maxBytes: number;
  /** In the order in which they came. Dropped ones are removed once they are more than half. */
  readonly #items = new Queue<Item<never>>();
  #dropped = 0;
  #bytes = 0;

  /** @param maxBytes about how much all logs together may hold */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(item: Item<never>): void {
    this.#items.push(item);
    this.grow(item.bytes);
  }

  /** Forgets an item that its log has dropped. */
  remove({ bytes }: Item<never>): void {
    this.#bytes -= bytes;
    this.#dropped += 1;
    if (this.#dropped * 2 <= this.#items.length) return;
    this.#items.keep(({ value }) => value !== undefined);
    this.#dropped = 0;
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#maxBytes) {
      const oldest = this.#items.shift()!;
      this.#dropped -= 1; // one that was dropped leaves the queue; one that is dropped now is counted by `remove`
      if (oldest.value !== undefined) oldest.log.dropOldest();
    }
  }
}

/** The latest things that happened, in order: bounded by their number, by their size, and by a budget of all logs. */
export class BoundedLog<T> {
  readonly #maxItems: number;
  readonly #maxBytes: number;
  readonly #budget: MemoryBudget;
  #items = new Queue<Item<T>>();
  #bytes = 0;
  #evicted = 0;

  constructor(limits: { readonly items: number; readonly bytes: number }, budget: MemoryBudget) {
    this.#maxItems = limits.items;
    this.#maxBytes = limits.bytes;
    this.#budget = budget;
  }

  /** How many items were dropped to stay within the bounds, since the log was last cleared. */
  get evicted(): number {
    return this.#evicted;
  }

  get size(): number {
    return this.#items.length;
  }

  /** @param bytes about how much memory it takes */
  add(value: T, bytes: number): Item<T> {
    const item: Item<T> = { value, log: this, bytes };
    this.#items.push(item);
    this.#bytes += bytes;
    this.#budget.add(item as Item<never>);
    this.#dropExcess();
    return item;
  }

  /** Puts another value in the place of one that is still kept. @param bytes how much memory it takes */
  replace(item: Item<T>, value: T, bytes: number): void {
    if (item.value === undefined) return;
    const grownBy = bytes - item.bytes;
    item.value = value;
    item.bytes = bytes;
    this.#bytes += grownBy;
    this.#budget.grow(grownBy);
    this.#dropExcess();
  }

  dropOldest(): void {
    const oldest = this.#items.shift();
    if (oldest === undefined) return;
    this.#drop(oldest);
    this.#evicted += 1;
  }

  /** Drops all of it, and starts counting what was evicted again. */
  clear(): void {
    for (const item of this.#items.items()) this.#drop(item);
    this.#items = new Queue();
    this.#evicted = 0;
  }

  /** The oldest first. */
  items(): readonly T[] {
    return this.#items.items().map(({ value }) => value!);
  }

  #dropExcess(): void {
    while (this.size > this.#maxItems || this.#bytes > this.#maxBytes) this.dropOldest();
  }

  #drop(item: Item<T>): void {
    item.value = undefined;
    this.#bytes -= item.bytes;
    this.#budget.remove(item as Item<never>);
  }
}

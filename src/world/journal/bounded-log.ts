/** One item of a log. */
export interface Item<T> {
  /** undefined once the item was dropped. */
  value: T | undefined;
  bytes: number;
  readonly log: BoundedLog<T>;
  /** Its number among the items of all logs, which the budget gives it. */
  nth: number;
}

/** The memory that the logs of all worlds share. Past it, the oldest item of all worlds is dropped. */
export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #items = new Map<number, Item<never>>();
  /** No item has a lower number. */
  #oldest = 0;
  #next = 0;
  #bytes = 0;

  /** @param maxBytes about how much all logs together may hold */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(item: Item<never>): void {
    item.nth = this.#next;
    this.#next += 1;
    this.#items.set(item.nth, item);
    this.grow(item.bytes);
  }

  /** Forgets an item that its log has dropped. */
  remove({ nth, bytes }: Item<never>): void {
    this.#items.delete(nth);
    this.#bytes -= bytes;
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
    for (; this.#bytes > this.#maxBytes; this.#oldest += 1) this.#items.get(this.#oldest)?.log.dropOldest();
  }
}

/** The latest things that happened, in order: bounded by their number, by their size, and by a budget of all logs. */
export class BoundedLog<T> {
  readonly #limits: { readonly items: number; readonly bytes: number };
  readonly #budget: MemoryBudget;
  #items: Item<T>[] = [];
  #bytes = 0;
  #evicted = 0;

  constructor(limits: { readonly items: number; readonly bytes: number }, budget: MemoryBudget) {
    this.#limits = limits;
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
    const item: Item<T> = { value, bytes, log: this, nth: 0 };
    this.#items.push(item);
    this.#bytes += bytes;
    this.#budget.add(item as Item<never>);
    this.#dropExcess();
    return item;
  }

  /** Replaces a value that is still kept. @param bytes how much memory it takes */
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

  /** Drops all items, and restarts the count of evicted ones. */
  clear(): void {
    for (const item of this.#items) this.#drop(item);
    this.#items = [];
    this.#evicted = 0;
  }

  /** The oldest first. */
  items(): readonly T[] {
    return this.#items.map(({ value }) => value!);
  }

  #dropExcess(): void {
    const { items, bytes } = this.#limits;
    while (this.size > items || this.#bytes > bytes) this.dropOldest();
  }

  #drop(item: Item<T>): void {
    item.value = undefined;
    this.#bytes -= item.bytes;
    this.#budget.remove(item as Item<never>);
  }
}

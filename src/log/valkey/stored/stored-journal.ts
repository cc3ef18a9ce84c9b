import { invariant } from '../../../payout/money.ts';
import type { Exchange } from '../../../world/journal/exchange.ts';
import type { JournalRead } from '../../../world/journal/journal.ts';
import type { ExchangePlace, WorldJournal } from '../../world-log.ts';
import type { WallClock } from '../../wall-clock.ts';
import { BatchedCalls } from '../batched-calls.ts';
import type { WorldKeys } from '../scripts/scripts.ts';
import type { StoreConnection } from '../store-connection.ts';

interface Options {
  readonly keys: WorldKeys;
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly epoch: () => string;
  /** False once the world has ended. */
  readonly isKept: () => boolean;
  /** Goes up when the journal is cleared with its world. */
  readonly generation: () => number;
  /** The number of the last request that has begun, as far as this server knows. */
  readonly asked: () => number;
  /** Resolves once that is up to date. */
  readonly look: () => Promise<unknown>;
  readonly limits: () => { readonly items: number; readonly bytes: number };
  readonly keptMs: number;
}

/** An entry that waits to be written. */
interface Write {
  readonly nth: number;
  readonly isNew: boolean;
  readonly text: string;
  readonly written: () => void;
}

/** The journal of a world in the store. An exchange gets its number when it begins, and is written when it is first answered or held back. */
export class StoredJournal implements WorldJournal {
  readonly #options: Options;
  readonly #writes: BatchedCalls<Write>;
  /** The numbers of requests that have begun and have no place so far. */
  readonly #begun: number[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#writes = new BatchedCalls(options.wallClock, (writes) => this.#writeAll(writes));
  }

  get isIdle(): boolean {
    return this.#writes.isIdle;
  }

  /** A request has begun: `begin` gives it its place. */
  expect(nth: number): void {
    this.#begun.push(nth);
  }

  begin(): ExchangePlace {
    const nth = this.#begun.shift();
    invariant(nth !== undefined, 'a request uses its world before it gets its place in the journal');
    return new StoredPlace(nth, this.#options, this.#writes);
  }

  /** Resolves once everything that was written before is in the store. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }

  async read(): Promise<JournalRead> {
    const { store, keys } = this.#options;
    await this.flush();
    const [evicted, entries] = await store.reliably(() =>
      store.script<[number, string[]]>('readJournal', keys.head, keys.journal),
    );
    const exchanges = entries.map((text) => JSON.parse(text) as Exchange);
    return { exchanges: exchanges.toSorted((a, b) => a.nth - b.nth), evicted };
  }

  async clear(): Promise<number> {
    const { store, keys } = this.#options;
    await this.flush();
    return store.reliably(() => store.script<number>('clearJournal', keys.head, keys.journal, keys.order));
  }

  async #writeAll(writes: readonly Write[]): Promise<void> {
    const { store, keys, epoch, limits, keptMs } = this.#options;
    const { items, bytes } = limits();
    const args = [keys.head, keys.journal, keys.order, epoch(), items, bytes, keptMs];
    for (const { nth, isNew, text } of writes) args.push(nth, isNew ? 1 : 0, text);
    // where the store is away: an answer that is ready is not taken back
    await store.reliably(() => store.script('writeJournal', ...args)).catch(() => undefined);
    for (const { written } of writes) written();
  }
}

class StoredPlace implements ExchangePlace {
  readonly nth: number;
  readonly #options: Options;
  readonly #writes: BatchedCalls<Write>;
  readonly #generation: number;
  #isNew = true;
  /** Whether it was written before its answer left, since the answer is held back. */
  #wasHeld = false;

  constructor(nth: number, options: Options, writes: BatchedCalls<Write>) {
    this.nth = nth;
    this.#options = options;
    this.#writes = writes;
    this.#generation = options.generation();
  }

  async update(exchange: Exchange): Promise<void> {
    const { isKept, generation, asked, look } = this.#options;
    const isOver = exchange.outcome !== 'pending';
    if (isOver && this.#wasHeld) await look().catch(() => undefined);
    if (!isKept() || (this.#isNew && generation() !== this.#generation)) return;
    const text = JSON.stringify({ ...exchange, nth: this.nth, ...(isOver && { endedAfter: asked() }) });
    const isNew = this.#isNew;
    this.#isNew = false;
    this.#wasHeld ||= exchange.answer === undefined;
    await new Promise<void>((written) => {
      const write = { nth: this.nth, isNew, text, written };
      if (isOver && !isNew) this.#writes.addLater(write);
      else this.#writes.add(write);
    });
  }
}

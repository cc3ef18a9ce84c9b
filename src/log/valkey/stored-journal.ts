import type { Exchange } from '../../world/journal/exchange.ts';
import type { JournalRead } from '../../world/journal/journal.ts';
import type { ExchangePlace, WorldJournal } from '../world-log.ts';
import type { WallClock } from '../wall-clock.ts';
import { BatchedCalls } from './batched-calls.ts';
import type { WorldKeys } from './scripts.ts';
import type { StoreConnection } from './store-connection.ts';

interface Options {
  readonly keys: WorldKeys;
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly epoch: () => string;
  /** False once the world has ended. */
  readonly isKept: () => boolean;
  /** Goes up when the journal is cleared with its world. */
  readonly generation: () => number;
  /** The name of a new place, which no other server gives. */
  readonly newPlace: () => string;
  readonly limits: () => { readonly items: number; readonly bytes: number };
  readonly keptMs: number;
}

/** An entry that waits to be written. */
interface Write {
  readonly place: string;
  readonly isNew: boolean;
  /** Begins with its number, unless it is new. */
  readonly text: string;
  /** @param nth its number, for a new one; null when it could not be written */
  readonly written: (nth: number | null) => void;
}

/** `NUMBER TEXT` as the store has it. */
function exchangeOf(entry: string): Exchange {
  const space = entry.indexOf(' ');
  return { ...(JSON.parse(entry.slice(space + 1)) as Exchange), nth: Number(entry.slice(0, space)) };
}

/** The journal of a world in the store. An exchange is written when it is first answered, or held back, and has its number then. */
export class StoredJournal implements WorldJournal {
  readonly #options: Options;
  readonly #writes: BatchedCalls<Write>;

  constructor(options: Options) {
    this.#options = options;
    this.#writes = new BatchedCalls(options.wallClock, (writes) => this.#writeAll(writes));
  }

  get isIdle(): boolean {
    return this.#writes.isIdle;
  }

  begin(): ExchangePlace {
    return new StoredPlace(this.#options, this.#writes);
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
    return { exchanges: entries.map(exchangeOf).toSorted((a, b) => a.nth - b.nth), evicted };
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
    for (const { place, isNew, text } of writes) args.push(place, isNew ? 1 : 0, text);
    const numbers = await store
      .reliably(() => store.script<readonly string[]>('writeJournal', ...args))
      .catch(() => []); // the store is away: an answer that is ready is not taken back
    for (const [nth, { written }] of writes.entries()) written(Number(numbers[nth] ?? '') || null);
  }
}

class StoredPlace implements ExchangePlace {
  readonly #options: Options;
  readonly #writes: BatchedCalls<Write>;
  readonly #generation: number;
  #name: string | null = null;
  #nth = 0;
  /** The writes of one place come one after the other: the first gives it its number. */
  #written: Promise<void> = Promise.resolve();

  constructor(options: Options, writes: BatchedCalls<Write>) {
    this.#options = options;
    this.#writes = writes;
    this.#generation = options.generation();
  }

  get nth(): number {
    return this.#nth;
  }

  update(exchange: Exchange): Promise<void> {
    return (this.#written = this.#written.then(() => this.#write(exchange)));
  }

  async #write(exchange: Exchange): Promise<void> {
    const { isKept, generation, newPlace } = this.#options;
    const isNew = this.#name === null;
    if (!isKept() || (isNew && generation() !== this.#generation)) return;
    const place = (this.#name ??= newPlace());
    const text = (isNew ? '' : `${this.#nth} `) + JSON.stringify(exchange);
    const mayWait = !isNew && exchange.outcome !== 'pending'; // its end, which nobody waits for
    const nth = await new Promise<number | null>((written) => {
      const write = { place, isNew, text, written };
      if (mayWait) this.#writes.addLater(write);
      else this.#writes.add(write);
    });
    if (isNew && nth !== null) this.#nth = nth;
  }
}

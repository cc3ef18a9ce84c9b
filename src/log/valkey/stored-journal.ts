import type { Exchange } from '../../world/journal/exchange.ts';
import type { JournalRead } from '../../world/journal/journal.ts';
import type { ExchangePlace, WorldJournal } from '../world-log.ts';
import type { JournalWrite } from './batch.ts';
import type { WorldKeys } from './scripts.ts';
import type { StoreConnection } from './store-connection.ts';

interface Options {
  readonly keys: WorldKeys;
  readonly store: StoreConnection;
  /** False once the world has ended. */
  readonly isKept: () => boolean;
  /** Goes up when the journal is cleared with its world. */
  readonly generation: () => number;
  /** The name of a new place, which no other server gives. */
  readonly newPlace: () => string;
  readonly write: (entry: JournalWrite) => void;
  /** Resolves once everything that was written before is in the store. */
  readonly flushed: () => Promise<void>;
}

/** `NUMBER TEXT` as the store has it. */
function exchangeOf(entry: string): Exchange {
  const space = entry.indexOf(' ');
  return { ...(JSON.parse(entry.slice(space + 1)) as Exchange), nth: Number(entry.slice(0, space)) };
}

/** The journal of a world in the store. An exchange is written when it is first answered, or held back, and has its number then. */
export class StoredJournal implements WorldJournal {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  begin(): ExchangePlace {
    return new StoredPlace(this.#options);
  }

  async read(): Promise<JournalRead> {
    const { store, keys, flushed } = this.#options;
    await flushed();
    const [evicted, entries] = await store.reliably(() =>
      store.script<[number, string[]]>('journal', keys.head, keys.journal),
    );
    return { exchanges: entries.map(exchangeOf).toSorted((a, b) => a.nth - b.nth), evicted };
  }

  async clear(): Promise<number> {
    const { store, keys, flushed } = this.#options;
    await flushed();
    return store.reliably(() => store.script<number>('clearJournal', keys.head, keys.journal, keys.order));
  }
}

class StoredPlace implements ExchangePlace {
  readonly #options: Options;
  readonly #generation: number;
  #name: string | null = null;
  #nth = 0;
  /** The writes of one place come one after the other: the first gives it its number. */
  #written: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
    this.#generation = options.generation();
  }

  get nth(): number {
    return this.#nth;
  }

  update(exchange: Exchange): Promise<void> {
    return (this.#written = this.#written.then(() => this.#write(exchange)));
  }

  async #write(exchange: Exchange): Promise<void> {
    const { isKept, generation, newPlace, write } = this.#options;
    const isNew = this.#name === null;
    if (!isKept() || (isNew && generation() !== this.#generation)) return;
    const place = (this.#name ??= newPlace());
    const text = (isNew ? '' : `${this.#nth} `) + JSON.stringify(exchange);
    const isUrgent = isNew || exchange.outcome === 'pending';
    const nth = await new Promise<number | null>((written) =>
      write({ place, isNew, isUrgent, text, written }),
    );
    if (isNew && nth !== null) this.#nth = nth;
  }
}

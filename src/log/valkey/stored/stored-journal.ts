import { Refusal } from '../../../contract/errors.ts';
import { invariant } from '../../../payout/money.ts';
import { placed, type Exchange } from '../../../world/journal/exchange.ts';
import type { JournalRead } from '../../../world/journal/journal.ts';
import type { ExchangePlace, WorldJournal } from '../../world-log.ts';
import type { WallClock } from '../../wall-clock.ts';
import { BatchedCalls } from '../calls/batched-calls.ts';
import type { WorldKeys } from '../scripts/scripts.ts';
import type { StoreConnection } from '../store-connection.ts';

interface Options {
  readonly keys: WorldKeys;
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly epoch: () => string;
  /** False once the world has ended. */
  readonly isKept: () => boolean;
  /** Increases when the journal is cleared with its world. */
  readonly generation: () => number;
  /** The number of the last request that has begun, as far as this server knows. */
  readonly asked: () => number;
  /** Resolves once `asked` is up to date. */
  readonly look: () => Promise<unknown>;
  /** Numbers that this server has not given before. */
  readonly nextNumber: () => number;
  readonly limits: () => { readonly items: number; readonly bytes: number };
  readonly keptMs: number;
}

/** A record that waits to be written. */
interface Write {
  readonly record: string;
  /** The generation of the world whose request it is about. */
  readonly generation: number;
  readonly written: () => void;
}

/** A record in the store: `+` and a new exchange, or `=` and the changes of one. */
const recordOf = (exchange: Partial<Exchange>, isNew: boolean): string =>
  (isNew ? '+' : '=') + JSON.stringify(exchange);

/** The fields of an exchange that have changed. */
const changesOf = (exchange: Exchange, before: Exchange): Partial<Exchange> =>
  Object.fromEntries(
    Object.entries(exchange).filter(([name, value]) => value !== before[name as keyof Exchange]),
  );

/** The exchanges of these records, the oldest first. Changes of an exchange that was dropped are left out. */
function exchangesOf(records: readonly string[]): readonly Exchange[] {
  const exchanges = new Map<number, Exchange>();
  for (const record of records) {
    const read = JSON.parse(record.slice(1)) as Exchange;
    const known = exchanges.get(read.nth);
    if (record.startsWith('+') || known !== undefined) exchanges.set(read.nth, { ...known, ...read });
  }
  return [...exchanges.values()].toSorted((a, b) => a.nth - b.nth);
}

/** The journal of a world in the store. An exchange gets its number when it begins, and is written when it is first answered or held back. */
export class StoredJournal implements WorldJournal {
  readonly #options: Options;
  readonly #writes: BatchedCalls<Write>;
  /** The numbers of requests that have begun and have no place in the journal yet. */
  readonly #begun: number[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#writes = new BatchedCalls(options, (writes) => this.#writeAll(writes));
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
    const readAll = () => store.script<[number, string[]]>('readJournal', keys.head, keys.journal);
    const [evicted, records] = await store.reliably(readAll, keys.head);
    return { exchanges: exchangesOf(records), evicted };
  }

  async clear(): Promise<number> {
    const { store, keys } = this.#options;
    await this.flush();
    return store.reliably(() => store.script<number>('clearJournal', keys.head, keys.journal), keys.head);
  }

  /** @returns the records that could not be written, since the store was away */
  async #writeAll(all: readonly Write[]): Promise<readonly Write[]> {
    const { store, keys, epoch, nextNumber, limits, keptMs, isKept, generation } = this.#options;
    const writes = all.filter((write) => write.generation === generation()); // others were cleared with their world
    const { items, bytes } = limits();
    const call = `${store.server}:${nextNumber()}`;
    const args = [keys.head, keys.journal, epoch(), call, items, bytes, keptMs];
    for (const { record } of writes) args.push(record);
    let failed: readonly Write[] = [];
    try {
      if (writes.length > 0) await store.reliably(() => store.script('writeJournal', ...args), keys.head);
    } catch (error) {
      if (error instanceof Refusal && isKept()) failed = writes; // an answer that is ready is sent even so
    }
    for (const { written } of all) written();
    return failed;
  }
}

class StoredPlace implements ExchangePlace {
  readonly nth: number;
  readonly #options: Options;
  readonly #writes: BatchedCalls<Write>;
  readonly #generation: number;
  /** As it was last written. */
  #latest: Exchange | null = null;
  /** Whether it was written before its answer left, since the answer is held back. */
  #wasHeld = false;
  /** Resolves once this server knows the requests that began on other servers while the answer was held back. */
  #caughtUp: Promise<unknown> | null = null;

  constructor(nth: number, options: Options, writes: BatchedCalls<Write>) {
    this.nth = nth;
    this.#options = options;
    this.#writes = writes;
    this.#generation = options.generation();
  }

  async update(exchange: Exchange): Promise<void> {
    const { isKept, generation, asked, look } = this.#options;
    // once, at the first end that is known: requests after the answer was sent do not overlap this one
    if (exchange.outcome !== 'pending' && this.#wasHeld)
      await (this.#caughtUp ??= look().catch(() => undefined));
    const latest = this.#latest;
    if (!isKept() || (latest === null && generation() !== this.#generation)) return;
    const known = placed(exchange, latest ?? undefined, asked());
    this.#latest = known;
    this.#wasHeld ||= known.answer === undefined;
    const changes = latest === null ? known : changesOf(known, latest);
    const record = recordOf({ ...changes, nth: this.nth }, latest === null);
    await new Promise<void>((written) => {
      const write = { record, generation: this.#generation, written };
      // an end that is already in the store is only corrected
      if (latest === null || latest.outcome === 'pending') this.#writes.add(write);
      else this.#writes.addLater(write);
    });
  }
}

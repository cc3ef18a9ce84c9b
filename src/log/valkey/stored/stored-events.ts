import { Refusal } from '../../../contract/errors.ts';
import { eventNumber, MAX_READERS, type EventReader, type PublishedEvent } from '../../event-log.ts';
import type { WallClock } from '../../wall-clock.ts';
import type { StateEvent } from '../../../world/events.ts';
import { BatchedCalls } from '../calls/batched-calls.ts';
import type { StreamEntry } from '../log-entry.ts';
import type { WorldKeys } from '../scripts/scripts.ts';
import { storeUnavailable, type StoreConnection } from '../store-connection.ts';

const WATCHED_MS = 300_000; // how long events are kept for a reader that may come back
const RENEWED_MS = 60_000;
const FIRST = 2; // the number of the first event, as in memory

interface Reading {
  readonly reader: EventReader;
  /** The number of the last event that it has. */
  last: number;
}

interface Options {
  readonly keys: WorldKeys;
  readonly store: StoreConnection;
  readonly wallClock: WallClock;
  readonly epoch: () => string;
  readonly nextNumber: () => number;
  readonly keptMs: number;
}

interface Written {
  readonly type: StateEvent['type'] | 'request';
  readonly data: string;
}

/** The readers of a world's events on this server. The events are in the store, so that a reader can continue on any server. */
export class StoredEvents {
  readonly #options: Options;
  readonly #writes: BatchedCalls<Written>;
  readonly #readings = new Set<Reading>();
  #epoch = '';
  #cancelRenewal: (() => void) | null = null;
  #pulling: Promise<void> | null = null;
  #isNewsAhead = false;

  constructor(options: Options) {
    this.#options = options;
    this.#writes = new BatchedCalls(options, (events) => this.#writeAll(events));
  }

  get isIdle(): boolean {
    return !this.hasReaders && this.#writes.isIdle;
  }

  get hasReaders(): boolean {
    return this.#readings.size > 0;
  }

  /** Publishes an event to all readers, on every server. */
  publish(type: Written['type'], data: object): void {
    this.#writes.add({ type, data: JSON.stringify(data) });
  }

  /** Resolves once everything that was published before is in the store. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }

  /** @returns a function that ends the reading */
  async read(afterId: string | undefined, reader: EventReader): Promise<() => void> {
    if (this.#readings.size >= MAX_READERS) throw new Refusal('TOO_MANY_READERS');
    const reading: Reading = { reader, last: Infinity }; // counts as a reader before anything is awaited; Infinity: takes no events yet
    this.#readings.add(reading);
    try {
      const last = await this.#watch();
      const after = afterId === undefined ? last : eventNumber(afterId, this.#prefix, last);
      if (after === null) reader.take({ id: this.#idOf(FIRST - 1), type: 'missed', data: '{"missed":null}' });
      reading.last = after ?? FIRST - 1;
      await this.pull();
    } catch (error) {
      this.#readings.delete(reading);
      throw error;
    }
    return () => this.#readings.delete(reading);
  }

  /** Gives the readers the new events. An event that arrives while a page is read may not be in it, so another page is read. */
  async pull(): Promise<void> {
    this.#isNewsAhead = true;
    while (this.hasReaders && (this.#isNewsAhead || this.#pulling !== null))
      await (this.#pulling ??= this.#pullPage().finally(() => (this.#pulling = null)));
  }

  end(): void {
    this.#cancelRenewal?.();
    for (const { reader } of this.#readings) reader.end();
    this.#readings.clear();
  }

  async #writeAll(events: readonly Written[]): Promise<void> {
    const { store, keys, epoch, nextNumber, keptMs } = this.#options;
    const mark = `${keys.events}:${store.server}`;
    const args = [keys.head, keys.events, mark, epoch(), nextNumber(), keys.news, store.server, keptMs];
    for (const { type, data } of events) args.push(type, data);
    await store.reliably(() => store.script('publish', ...args), keys.head).catch(() => undefined); // the store is away
  }

  async #pullPage(): Promise<void> {
    const { store, keys } = this.#options;
    this.#isNewsAhead = false;
    const from = Math.min(...[...this.#readings].map(({ last }) => last));
    if (from === Infinity) return;
    const epoch = this.#epoch;
    const entries = await store.reliably(
      () =>
        store.client.xrange(keys.events, `${epoch}-${from + 1 - FIRST}`, `${epoch}-${2 ** 53}`) as Promise<
          StreamEntry[]
        >,
    );
    for (const [id, fields] of entries)
      this.#deliver(from, Number(id.slice(id.indexOf('-') + 1)) + FIRST, fields);
  }

  /** @param from the last event before the page: a reader that joined meanwhile and needs older ones waits for the next page */
  #deliver(from: number, number: number, [, type, , data]: readonly string[]): void {
    const event = { id: this.#idOf(number), type, data } as PublishedEvent;
    for (const reading of this.#readings) {
      if (number <= reading.last || reading.last < from) continue;
      const missed = number - reading.last - 1;
      if (missed > 0) {
        reading.reader.take({
          id: this.#idOf(number - 1),
          type: 'missed',
          data: JSON.stringify({ missed }),
        });
      }
      reading.last = number;
      reading.reader.take(event);
    }
  }

  /** Marks the events as being read in the store, and renews the mark while there are readers. @returns the number of the last event */
  async #watch(): Promise<number> {
    const { store, keys, wallClock } = this.#options;
    const [epoch, count] = await store.reliably(() =>
      store.script<[string?, number?]>('watch', keys.head, keys.events, WATCHED_MS),
    );
    if (epoch === undefined) throw storeUnavailable();
    if (epoch !== this.#epoch)
      for (const reading of this.#readings) if (reading.last < Infinity) reading.last = FIRST - 1;
    this.#epoch = epoch;
    this.#cancelRenewal ??= wallClock.schedule(wallClock.nowMs() + RENEWED_MS, () => void this.#renew());
    return (count ?? 0) + FIRST - 1;
  }

  async #renew(): Promise<void> {
    this.#cancelRenewal = null;
    if (!this.hasReaders) return;
    try {
      await this.#watch();
      await this.pull();
    } catch {
      const { wallClock } = this.#options; // the store is away
      this.#cancelRenewal = wallClock.schedule(wallClock.nowMs() + RENEWED_MS / 10, () => void this.#renew());
    }
  }

  /** The epoch as it appears in ids. */
  get #prefix(): string {
    return Number(this.#epoch).toString(36);
  }

  #idOf(number: number): string {
    return `${this.#prefix}-${number}`;
  }
}

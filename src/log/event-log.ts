import type { StateEvent } from '../world/events.ts';
import { BoundedLog, type MemoryBudget } from '../world/journal/bounded-log.ts';

type EventType = StateEvent['type'] | 'request' | 'missed';

/** Something that happened in a world. */
export interface PublishedEvent {
  /** Its place among the events of its world. A reader passes it to continue from there. */
  readonly id: string;
  readonly type: EventType;
  /** JSON. */
  readonly data: string;
}

/** A reader of the events of a world, as they come. */
export interface EventReader {
  readonly take: (event: PublishedEvent) => void;
  /** There will be no more: the world has ended. */
  readonly end: () => void;
}

const LIMITS = { items: 1000, bytes: 1024 * 1024 };
const BYTES_EACH = 200;
/** How many readers the events of one world may have on one server. */
export const MAX_READERS = 32;

/**
 * The events of one world. They are kept from the first reader on, so that a reader whose connection broke can
 * continue. A world that was never watched keeps none.
 */
export class EventLog {
  readonly #log: BoundedLog<PublishedEvent>;
  readonly #readers = new Set<EventReader>();
  /** Distinguishes the events of this world from those of an earlier world with the same key. */
  readonly #epoch: string;
  #last = 0;
  /** How many events came since the last reader left. */
  #unread = 0;

  constructor(openedAtMs: number, budget: MemoryBudget) {
    this.#epoch = openedAtMs.toString(36);
    this.#log = new BoundedLog(LIMITS, budget);
  }

  /** Whether anybody would notice an event. */
  get isWatched(): boolean {
    return this.#last > 0;
  }

  /** True when there may be no more readers. */
  get isFull(): boolean {
    return this.#readers.size >= MAX_READERS;
  }

  /** Sends an event to all readers. @param data makes its data; called only when there may be a reader */
  publish(type: EventType, data: () => unknown): void {
    if (!this.isWatched) return;
    this.#last += 1;
    if (this.#readers.size === 0) this.#unread += 1;
    // a reader that came back now would have missed some anyway: from here on they are only counted
    if (this.#unread > LIMITS.items) return this.#log.clear();
    const event = { id: `${this.#epoch}-${this.#last}`, type, data: JSON.stringify(data()) };
    this.#log.add(event, BYTES_EACH + event.data.length);
    for (const reader of this.#readers) reader.take(event);
  }

  /**
   * Reads the events after a given one, or from now on. An event `missed` stands for those that are no longer kept.
   *
   * @returns a function that ends the reading
   */
  read(afterId: string | undefined, reader: EventReader): () => void {
    if (this.#last === 0) this.#last = 1;
    this.#unread = 0;
    const kept = this.#log.items();
    const after = afterId === undefined ? this.#last : eventNumber(afterId, this.#epoch, this.#last);
    const first = this.#last - kept.length + 1;
    if (after === null || after + 1 < first) {
      const missed = after === null ? null : first - after - 1;
      reader.take({ id: `${this.#epoch}-${first - 1}`, type: 'missed', data: JSON.stringify({ missed }) });
    }
    for (const event of kept.slice(Math.max(0, (after ?? 0) + 1 - first))) reader.take(event);
    this.#readers.add(reader);
    return () => this.#readers.delete(reader);
  }

  /** Ends all readers. */
  close(): void {
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
    this.#log.clear();
  }
}

/** The number of an event, counted from the first of its world; null for an id of another world, or one that no event has so far. */
export function eventNumber(id: string, ofEpoch: string, last: number): number | null {
  const [, epoch, number] = /^([a-z0-9]+)-(\d{1,15})$/.exec(id) ?? [];
  return epoch === ofEpoch && Number(number) <= last ? Number(number) : null;
}

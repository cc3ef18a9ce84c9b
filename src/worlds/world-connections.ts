import { Refusal } from '../contract/errors.ts';
import type { StateEvent } from '../world/events.ts';
import { numberIn, published, Reading, type EventReader } from './event-reader.ts';
import { DelayedResponses, Releases } from './waits.ts';

/** How many readers the events of one world may have on one server. */
const MAX_READERS = 32;

/** How many events of a world a server remembers. */
const EVENTS_KEPT = 1000;

/** The newest events of a world on this server, for readers that resume. */
class RecentEvents {
  readonly #events: StateEvent[] = [];
  /** The number of the newest, and how many of those before it are known. */
  #latest = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(number: number, event: StateEvent): void {
    if (number <= this.#latest) return; // a world that is read again from its store repeats them
    this.#length = number === this.#latest + 1 ? Math.min(this.#length + 1, EVENTS_KEPT) : 1;
    this.#latest = number;
    this.#events[number % EVENTS_KEPT] = event;
  }

  clear(latest = this.#latest): void {
    this.#latest = latest;
    this.#length = 0;
    this.#events.length = 0;
  }

  /** Sends a reader the events after one that it has, or `missed` and those that are known. */
  async catchUp(reading: Reading, epoch: string, afterId: string): Promise<void> {
    const known = this.#latest - this.#length;
    const after = numberIn(afterId, epoch);
    const isKnown = after !== null && after >= known && after <= this.#latest;
    if (!isKnown) reading.miss(epoch, known);
    const from = isKnown ? after : known;
    const missed = Array.from(
      { length: this.#latest - from },
      (_, nth) => this.#events[(from + nth + 1) % EVENTS_KEPT]!,
    );
    for (const [nth, event] of missed.entries())
      await reading.catchUp(published(epoch, from + nth + 1, event));
  }
}

/** What belongs to the connections that this server has to one world. */
export class WorldConnections {
  /** The responses that rules delay. */
  readonly delayed: DelayedResponses;
  /** How the requests ended that rules hold until somebody releases them. */
  readonly releases = new Releases();
  readonly #readings = new Set<Reading>();
  readonly #recent = new RecentEvents();
  readonly #failed: (error: unknown) => void;

  /**
   * @param begun called when a response begins to wait for what happens in the world
   * @param failed called when sending to a reader fails: the command itself is applied
   */
  constructor(begun: () => void, failed: (error: unknown) => void) {
    this.#failed = failed;
    this.delayed = new DelayedResponses(begun);
  }

  get isEmpty(): boolean {
    return this.delayed.isEmpty && this.#readings.size === 0;
  }

  /** Adds a reader of the events of this world. @throws Refusal TOO_MANY_READERS */
  read(reader: EventReader): Reading {
    if (this.#readings.size >= MAX_READERS) throw new Refusal('TOO_MANY_READERS');
    const reading = new Reading(reader, (one) => this.#readings.delete(one));
    this.#readings.add(reading);
    return reading;
  }

  /** Remembers events that readers may ask for. @param latest the number of the last of them */
  remember(latest: number, events: readonly StateEvent[]): void {
    for (const [index, event] of events.entries())
      this.#recent.add(latest - events.length + index + 1, event);
  }

  /** Sends events to the readers. @param latest the number of the last of them */
  publish(epoch: string, latest: number, events: readonly StateEvent[], isOwn: boolean): void {
    this.remember(latest, events);
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index]!;
      const number = latest - events.length + index + 1;
      if (event.type === 'held' || event.type === 'released') this.releases.take(event, isOwn);
      if (this.#readings.size === 0) continue; // the text of an event is made once, and only if there is a reader
      try {
        const one = published(epoch, number, event);
        for (const reading of this.#readings) reading.take(one);
      } catch (error) {
        this.#failed(error);
      }
    }
  }

  /** Sends a reader what it has missed. @param afterId the id of the last event that it has */
  catchUp(reading: Reading, epoch: string, afterId: string): Promise<void> {
    return this.#recent.catchUp(reading, epoch, afterId);
  }

  /** About how many characters the events have that are remembered. */
  get recentEvents(): number {
    return this.#recent.length;
  }

  /** @param latest the number of the latest event, where the world has begun another life */
  forgetRecent(latest?: number): void {
    this.#recent.clear(latest);
  }

  /** Sends `missed` to all readers: events up to a number are lost to them. */
  miss(epoch: string, number: number): void {
    for (const reading of this.#begun()) reading.miss(epoch, number);
  }

  endReaders(): void {
    for (const reading of this.#begun()) {
      this.#readings.delete(reading);
      reading.end();
    }
  }

  #begun(): readonly Reading[] {
    return [...this.#readings].filter(({ hasBegun }) => hasBegun);
  }

  /** Ends the responses that rules hold back: their requests are over. */
  endHeldBack(): void {
    this.delayed.release('reset');
    this.releases.reset();
  }

  /** Ends the delayed responses and the readers, when the sandbox stops. */
  release(): void {
    this.delayed.release('ended');
    this.endReaders();
  }

  close(): void {
    this.delayed.close();
    this.endReaders();
  }
}

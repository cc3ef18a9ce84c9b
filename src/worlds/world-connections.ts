import { Refusal } from '../contract/errors.ts';
import type { StateEvent } from '../world/events.ts';
import { sumsOf, type Sums } from '../world/state.ts';
import type { WorldState } from '../world/state-shape.ts';
import { published, Reading, type EventReader, type Known } from './event-reader.ts';
import type { How } from './order.ts';
import { DelayedResponses, Releases } from './waits.ts';

/** How many readers the events of one world may have on one server. */
const MAX_READERS = 32;

/** How many events of a world a server remembers. */
const EVENTS_KEPT = 1000;

/** The newest events of a world on this server, for readers that resume. */
class RecentEvents {
  readonly #events: Known['events'][number][] = [];
  /** The number of the newest, and how many of those before it are known. */
  #latest = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(number: number, event: StateEvent, sums: Sums): void {
    if (number <= this.#latest) return; // a world that is read again from its store repeats them
    this.#length = number === this.#latest + 1 ? Math.min(this.#length + 1, EVENTS_KEPT) : 1;
    this.#latest = number;
    this.#events[number % EVENTS_KEPT] = { event, sums };
  }

  /** @param latest the number of the latest event, where the world has begun another life */
  clear(latest = this.#latest): void {
    this.#latest = latest;
    this.#length = 0;
    this.#events.length = 0;
  }

  /** The events that are known, and the number of the latest of them. */
  get known(): Known {
    const from = this.#latest - this.#length + 1;
    const events = Array.from(
      { length: this.#length },
      (_, nth) => this.#events[(from + nth) % EVENTS_KEPT]!,
    );
    return { latest: this.#latest, events };
  }
}

/** What belongs to the connections that this server has to one world. */
export class WorldConnections {
  /** The responses that rules delay. */
  readonly delayed: DelayedResponses;
  /** How the requests ended that rules hold until somebody releases them. */
  readonly releases = new Releases();
  readonly #readings = new Set<Reading>();
  /** What a reader that resumes may have missed. */
  readonly recent = new RecentEvents();
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

  /** Remembers the events of a command, and sends them to the readers if they are news. @param state after the command */
  publish(epoch: string, state: Readonly<WorldState>, events: readonly StateEvent[], how: How): void {
    if (events.length === 0) return;
    const sums = sumsOf(state);
    let number = state.eventCount - events.length;
    for (const event of events) {
      number += 1;
      this.recent.add(number, event, sums);
      if (!how.isNews) continue;
      if (event.type === 'held' || event.type === 'released') this.releases.take(event, how.isOwn);
      let text: ReturnType<typeof published> | undefined; // made once, and only if there is a reader
      for (const reading of this.#readings) {
        try {
          reading.take((text ??= published(epoch, number, event, sums)));
        } catch (error) {
          this.#failed(error); // it keeps nothing from the others, and changes nothing of the command
        }
      }
    }
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

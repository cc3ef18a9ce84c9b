import { Refusal } from '../contract/errors.ts';
import { eventData, type StateEvent } from '../world/events.ts';
import { sumsOf, type Sums } from '../world/state.ts';
import type { WorldState } from '../world/state-shape.ts';

/** Something that happened in a world. */
export interface PublishedEvent {
  /** The life of the world, and its number there. */
  readonly id: string;
  readonly type: StateEvent['type'] | 'missed';
  /** JSON. */
  readonly data: string;
}

/** A reader of the events of a world, as they come. */
export interface EventReader {
  readonly take: (event: PublishedEvent) => void;
  /**
   * Called once the reader is accepted, before its first event.
   *
   * @param stop ends the reading
   * @param from the id to continue after if its connection breaks before the first event; absent when it named one itself
   */
  readonly begin?: (stop: () => void, from?: string) => void;
  /** @returns a promise of room for more where there is none; what happens meanwhile waits, as far as it is remembered */
  readonly ready?: () => Promise<void> | undefined;
  /** There will be no more: the world has ended. */
  readonly end: () => void;
}

/** How many events of a world a server remembers. */
const EVENTS_KEPT = 1000;

const MISSED = JSON.stringify({ missed: null });
const ID = /^([a-z0-9]+)-(\d{1,15})$/;

/** The id of an event: the life of its world, and its number there, counted from 1. */
const idOf = (epoch: string, number: number): string => `${epoch}-${number}`;

/** The newest events of a world on this server, each with the sums of the world right after it. */
class RecentEvents {
  readonly #events: { readonly event: StateEvent; readonly sums: Sums }[] = [];
  /** The number of the newest, and how many of the newest are known. */
  latest = 0;
  length = 0;
  /** The one that a reader got last, since the others get it next. */
  #sent: { readonly number: number; readonly event: PublishedEvent } | null = null;

  add(number: number, event: StateEvent, sums: Sums): void {
    if (number <= this.latest) return; // a world that is read again from its store repeats them
    this.length = number === this.latest + 1 ? Math.min(this.length + 1, EVENTS_KEPT) : 1;
    this.latest = number;
    this.#events[number % EVENTS_KEPT] = { event, sums };
  }

  /** The number of the event after one that a reader has; 0, which none has, if that is not an event of this life of the world. */
  numberAfter(id: string, epoch: string): number {
    const [, ofEpoch, number] = ID.exec(id) ?? [];
    return ofEpoch === epoch && Number(number) <= this.latest ? Number(number) + 1 : 0;
  }

  /** An event, or `missed` with the number of the latest that is no longer known. */
  at(number: number, epoch: string): { readonly number: number; readonly event: PublishedEvent } {
    const forgotten = this.latest - this.length;
    if (number <= forgotten)
      return { number: forgotten, event: { id: idOf(epoch, forgotten), type: 'missed', data: MISSED } };
    if (this.#sent?.number === number) return this.#sent;
    const { event, sums } = this.#events[number % EVENTS_KEPT]!;
    const data = JSON.stringify(eventData(event, sums));
    this.#sent = { number, event: { id: idOf(epoch, number), type: event.type, data } };
    return this.#sent;
  }

  /** @param latest the number of the latest event, where those before it are not known here */
  clear(latest = this.latest): void {
    this.latest = latest;
    this.length = 0;
    this.#events.length = 0;
    this.#sent = null;
  }
}

/** One reader, and how far it has read. */
class Reading {
  readonly #reader: EventReader;
  readonly #left: (reading: Reading) => void;
  readonly #failed: (error: unknown) => void;
  /** The number of its next event; null until it was accepted. */
  #next: number | null = null;
  #hasRoom = true;

  /** @param failed called when sending to the reader fails: that keeps nothing from the others, and changes nothing of a command */
  constructor(reader: EventReader, left: (reading: Reading) => void, failed: (error: unknown) => void) {
    this.#reader = reader;
    this.#left = left;
    this.#failed = failed;
  }

  /** Begins with an event. @param from as for the `begin` of its reader */
  begin(next: number, from: string | undefined): void {
    this.#next = next;
    this.#reader.begin?.(this.stop, from);
  }

  /** Sends the events that the reader has not got, for as long as it has room. */
  send(recent: RecentEvents, epoch: string): void {
    try {
      while (this.#hasRoom && this.#next !== null && this.#next <= recent.latest) {
        const { number, event } = recent.at(this.#next, epoch);
        this.#next = number + 1;
        this.#reader.take(event);
        const room = this.#reader.ready?.();
        if (room !== undefined) void this.#wait(room).then(() => this.send(recent, epoch));
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  async #wait(room: Promise<void>): Promise<void> {
    this.#hasRoom = false;
    await room;
    this.#hasRoom = true;
  }

  end(): void {
    if (this.#next === null) return; // not accepted yet: it is refused
    this.stop();
    this.#reader.end();
  }

  stop = (): void => {
    this.#next = null;
    this.#left(this);
  };
}

/** How many readers the events of one world may have on one server. */
const MAX_READERS = 32;

/** Why what waits is called: the held requests have changed, the world was reset or restored, or it or the sandbox ends. */
type Waking = 'held' | 'reset' | 'ended';

/** What belongs to the connections that this server has to one world. */
export class WorldConnections {
  /** What a reader that resumes may have missed. */
  readonly recent = new RecentEvents();
  /** Whether events are remembered: once they have been read, and where a reader may come from another server. */
  keepsEvents = false;
  readonly #readings = new Set<Reading>();
  /** The responses that rules delay or hold, and the calls that wait for held requests. */
  readonly #waiting = new Set<(why: Waking) => void>();
  readonly #begun: () => void;
  readonly #failed: (error: unknown) => void;
  #isOver = false;

  /**
   * @param begun called when a response begins to wait for what happens in the world
   * @param failed called when sending to a reader fails: the command itself is applied
   */
  constructor(begun: () => void, failed: (error: unknown) => void) {
    this.#begun = begun;
    this.#failed = failed;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0 && this.#readings.size === 0;
  }

  /** Registers something that waits, until the returned function is called. @param wake called at once after `close` */
  wait(wake: (why: Waking) => void): () => void {
    if (this.#isOver) wake('ended');
    else {
      this.#begun();
      this.#waiting.add(wake);
    }
    return () => this.#waiting.delete(wake);
  }

  /** Wakes what waits. A reset ends the responses that rules hold back: their requests are over. */
  wake(why: Waking): void {
    for (const wake of this.#waiting) wake(why);
  }

  /** Adds a reader of the events of this world. @throws Refusal TOO_MANY_READERS */
  read(reader: EventReader): Reading {
    if (this.#readings.size >= MAX_READERS) throw new Refusal('TOO_MANY_READERS');
    const reading = new Reading(reader, (one) => this.#readings.delete(one), this.#failed);
    this.#readings.add(reading);
    return reading;
  }

  /** Begins to send events to a reader. @param afterId the id of the last event that it has; from now on when absent */
  begin(reading: Reading, epoch: string, { eventCount }: Readonly<WorldState>, afterId?: string): void {
    if (!this.keepsEvents) this.recent.clear(eventCount);
    this.keepsEvents = true;
    if (afterId === undefined) reading.begin(eventCount + 1, idOf(epoch, eventCount));
    else reading.begin(this.recent.numberAfter(afterId, epoch), undefined);
    reading.send(this.recent, epoch);
  }

  /** Remembers the events of a command, and sends them to the readers if they are news. @param state after the command */
  publish(epoch: string, state: Readonly<WorldState>, events: readonly StateEvent[], isNews: boolean): void {
    if (events.length === 0) return;
    if (isNews && events.some(({ type }) => type === 'held' || type === 'released')) this.wake('held');
    if (!this.keepsEvents) return;
    const sums = sumsOf(state);
    let number = state.eventCount - events.length;
    for (const event of events) {
      number += 1;
      this.recent.add(number, event, sums);
      if (isNews) for (const reading of this.#readings) reading.send(this.recent, epoch);
    }
  }

  /** Forgets the events up to a number, which readers have missed. */
  miss(epoch: string, number: number): void {
    this.recent.clear(number);
    for (const reading of this.#readings) reading.send(this.recent, epoch);
  }

  endReaders(): void {
    for (const reading of this.#readings) reading.end();
  }

  /** Ends the responses that wait and the readers, when the sandbox stops. */
  release(): void {
    this.wake('ended');
    this.endReaders();
  }

  close(): void {
    this.#isOver = true;
    this.release();
  }
}

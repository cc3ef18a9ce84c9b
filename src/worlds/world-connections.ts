import { Refusal } from '../contract/errors.ts';
import type { StateEvent } from '../world/events.ts';
import { sumsOf, type Sums } from '../world/state.ts';
import type { WorldState } from '../world/state-shape.ts';
import { idOf, numberAfter, Reading, type EventReader, type PublishedEvent } from './event-reader.ts';

/** How many readers the events of one world may have on one server. */
const MAX_READERS = 32;

/** How many events of a world a server remembers. */
const EVENTS_KEPT = 1000;

/** The newest events of a world on this server. */
class RecentEvents {
  readonly #events: { readonly event: StateEvent; readonly sums: Sums }[] = [];
  latest = 0;
  length = 0;
  sent: { readonly number: number; readonly event: PublishedEvent } | null = null;

  add(number: number, event: StateEvent, sums: Sums): void {
    if (number <= this.latest) return; // a world that is read again from its store repeats them
    this.length = number === this.latest + 1 ? Math.min(this.length + 1, EVENTS_KEPT) : 1;
    this.latest = number;
    this.#events[number % EVENTS_KEPT] = { event, sums };
  }

  at(number: number) {
    return this.#events[number % EVENTS_KEPT]!;
  }

  /** @param latest the number of the latest event, where those before it are not known here */
  clear(latest = this.latest): void {
    this.latest = latest;
    this.length = 0;
    this.#events.length = 0;
    this.sent = null;
  }
}

/** Why what waits is called: the held requests have changed, the world was reset or restored, or it or the sandbox ends. */
type Waking = 'held' | 'reset' | 'ended';

/** What belongs to the connections that this server has to one world. */
export class WorldConnections {
  /** What a reader that resumes may have missed. */
  readonly recent = new RecentEvents();
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

  #wake(why: Waking): void {
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
    if (afterId === undefined) reading.begin(eventCount + 1, idOf(epoch, eventCount));
    else reading.begin(numberAfter(afterId, epoch, this.recent), undefined);
    reading.send(this.recent, epoch);
  }

  /** Remembers the events of a command, and sends them to the readers if they are news. @param state after the command */
  publish(epoch: string, state: Readonly<WorldState>, events: readonly StateEvent[], isNews: boolean): void {
    if (events.length === 0) return;
    const sums = sumsOf(state);
    let number = state.eventCount - events.length;
    for (const event of events) {
      number += 1;
      this.recent.add(number, event, sums);
      if (isNews) for (const reading of this.#readings) reading.send(this.recent, epoch);
    }
    if (isNews && events.some(({ type }) => type === 'held' || type === 'released')) this.#wake('held');
  }

  /** Forgets the events up to a number, which readers have missed. */
  miss(epoch: string, number: number): void {
    this.recent.clear(number);
    for (const reading of this.#readings) reading.send(this.recent, epoch);
  }

  endReaders(): void {
    for (const reading of this.#readings) if (reading.hasBegun) reading.end();
  }

  /** Ends the responses that rules hold back: their requests are over. */
  endHeldBack(): void {
    this.#wake('reset');
  }

  /** Ends the responses that wait and the readers, when the sandbox stops. */
  release(): void {
    this.#wake('ended');
    this.endReaders();
  }

  close(): void {
    this.#isOver = true;
    this.release();
  }
}

import { Refusal } from '../contract/errors.ts';
import type { StateEvent } from '../world/events.ts';
import type { Released } from '../world/request/hold-state.ts';
import { published, Reading, RecentEvents, type EventReader } from './event-reader.ts';

/** How many readers the events of one world may have on one server. */
const MAX_READERS = 32;

/** What ends a delayed response: a reset or a restore of its world, or the end of the world or the sandbox. */
type End = (how: 'reset' | 'ended') => void;

/** The delayed responses of one world, as functions that end them. */
export class DelayedResponses {
  readonly #begun: () => void;
  /** Null until the first: most worlds delay no responses. */
  #ends: Set<End> | null = null;
  #isOver = false;

  /** @param begun called when a response begins to wait */
  constructor(begun: () => void) {
    this.#begun = begun;
  }

  /** Registers a delayed response until the returned function is called. @param end called at a release, or at once after `close` */
  hold(end: End): () => void {
    if (this.#isOver) end('ended');
    else {
      this.#begun();
      (this.#ends ??= new Set()).add(end);
    }
    return () => this.#ends?.delete(end);
  }

  get isEmpty(): boolean {
    return this.#ends === null || this.#ends.size === 0;
  }

  release(how: Parameters<End>[0]): void {
    for (const end of this.#ends ?? []) end(how);
    this.#ends?.clear();
  }

  /** Ends all responses, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release('ended');
  }
}

/** How the held requests of one world ended, for the code on this server that waits for them. There are at most a hundred. */
class Releases {
  /** The requests whose connections this server has, by their ids; null while they wait. */
  readonly #own = new Map<number, Released | 'reset' | null>();
  readonly #waiting = new Set<() => void>();
  /** How many changes of the held requests there were. */
  changes = 0;

  /** @param isOwn whether a command of this server made it happen */
  take(event: StateEvent, isOwn: boolean): void {
    if (event.type !== 'held' && event.type !== 'released') return;
    const { id } = event.request;
    if (event.type === 'held') {
      if (isOwn) this.#own.set(id, null);
    } else if (this.#own.has(id)) this.#own.set(id, event.released);
    this.#changed();
  }

  /** The world was replaced, and no request of before waits any more. */
  reset(): void {
    for (const [id, how] of this.#own) if (how === null) this.#own.set(id, 'reset');
    this.#changed();
  }

  #changed(): void {
    this.changes += 1;
    for (const callback of this.#waiting) callback();
  }

  /** Calls back at changes of the held requests; once and now if there were any since `seen`. @returns a function that ends it */
  follow(seen: number, callback: () => void): () => void {
    if (this.changes > seen) {
      callback();
      return () => undefined;
    }
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /** Calls back once the wait of a request of this server has ended. @returns a function that ends this */
  whenOver(id: number, callback: () => void): () => void {
    const look = (): void => {
      if (this.of(id) !== null) callback();
    };
    look();
    return this.of(id) === null ? this.follow(this.changes, look) : () => undefined;
  }

  /** How the wait of a request of this server ended; null while it waits, and when that is not known. */
  of(id: number): Released | 'reset' | null {
    return this.#own.get(id) ?? null;
  }

  forget(id: number): void {
    this.#own.delete(id);
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
      this.releases.take(event, isOwn);
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

  forgetRecent(): void {
    this.#recent.clear();
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

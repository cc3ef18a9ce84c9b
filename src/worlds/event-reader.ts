import { eventData, type StateEvent } from '../world/events.ts';
import type { Sums } from '../world/state.ts';

/** Something that happened in a world. */
export interface PublishedEvent {
  /** The life of the world, and its number there. */
  readonly id: string;
  readonly type: StateEvent['type'] | 'missed';
  /** JSON. */
  readonly data: string;
}

/** The newest events of a world that a server knows, the oldest first, each with the sums of the world right after it. */
export interface Known {
  /** The number of the newest. */
  readonly latest: number;
  readonly events: readonly { readonly event: StateEvent; readonly sums: Sums }[];
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
  /** Resolves once the reader has room for more. Only what it missed waits for that. */
  readonly ready?: () => void | Promise<void>;
  /** There will be no more: the world has ended, or the reader is too far behind. */
  readonly end: () => void;
}

/** How many new events wait while a reader gets those that it missed; one that takes longer is ended, and resumes. */
const MOST_WAITING = 1000;

const MISSED = JSON.stringify({ missed: null });
const ID = /^([a-z0-9]+)-(\d{1,15})$/;

/** The id of an event: the life of its world, and its number there, counted from 1. */
export const idOf = (epoch: string, number: number): string => `${epoch}-${number}`;

/** The number of the event that an id names; null for one of another life of the world. */
function numberIn(id: string, epoch: string): number | null {
  const [, ofEpoch, number] = ID.exec(id) ?? [];
  return ofEpoch === epoch ? Number(number) : null;
}

/** One reader. Once it has begun, new events wait until `start`, while the reader gets those that it missed. */
export class Reading {
  readonly #reader: EventReader;
  readonly #left: (reading: Reading) => void;
  #waiting: PublishedEvent[] | null = [];
  /** Whether it was accepted. Before that it has missed nothing, and it is refused instead of ended. */
  hasBegun = false;

  constructor(reader: EventReader, left: (reading: Reading) => void) {
    this.#reader = reader;
    this.#left = left;
  }

  /** @param from as for the `begin` of its reader */
  begin(from: string | undefined): void {
    this.hasBegun = true;
    this.#reader.begin?.(this.stop, from);
  }

  take(event: PublishedEvent): void {
    if (this.#waiting === null) this.#reader.take(event);
    else if (this.hasBegun && this.#waiting.push(event) > MOST_WAITING) this.#reader.end();
  }

  /** Sends the events after one that the reader has, or `missed` and those that are known. */
  async catchUp(epoch: string, afterId: string, { latest, events }: Known): Promise<void> {
    const known = latest - events.length;
    const after = numberIn(afterId, epoch);
    const isKnown = after !== null && after >= known && after <= latest;
    if (!isKnown) this.miss(epoch, known);
    const from = isKnown ? after : known;
    for (const [nth, { event, sums }] of events.slice(from - known).entries()) {
      this.#reader.take(published(epoch, from + nth + 1, event, sums));
      await this.#reader.ready?.();
    }
  }

  /** Says that events up to a number are no longer known. */
  miss(epoch: string, number: number): void {
    this.#reader.take({ id: idOf(epoch, number), type: 'missed', data: MISSED });
  }

  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    for (const event of waiting) this.#reader.take(event);
  }

  end(): void {
    this.#reader.end();
  }

  stop = (): void => this.#left(this);
}

export const published = (epoch: string, number: number, event: StateEvent, sums: Sums): PublishedEvent => ({
  id: idOf(epoch, number),
  type: event.type,
  data: JSON.stringify(eventData(event, sums)),
});

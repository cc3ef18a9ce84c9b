import { eventData, type StateEvent } from '../../world/events.ts';
import type { MaybePromise } from '../store.ts';

/** Something that happened in a world. */
export interface PublishedEvent {
  /** Its place: the life of the world, the position of its command in the log, and which event of that command it is. */
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
  /** Resolves once the reader has room for more. Only what it missed waits for that. */
  readonly ready?: () => MaybePromise<void>;
  /** There will be no more: the world has ended. */
  readonly end: () => void;
}

/** The place of an event in the log of its world. */
export interface EventPlace {
  readonly position: number;
  /** Infinity for the place after all events of the command. */
  readonly index: number;
}

const MISSED = JSON.stringify({ missed: null });
const ID = /^([a-z0-9]+)\.(\d{1,15})(?:\.(\d{1,6}))?$/;

/** The id of the end of a command, after all its events. */
export const idAfter = (epoch: string, position: number): string => `${epoch}.${position}`;

/** The place that an id names; null for one of another life of the world, or one that no event has so far. */
export function placeOf(id: string, epoch: string, last: number): EventPlace | null {
  const [, ofEpoch, position, index] = ID.exec(id) ?? [];
  if (ofEpoch !== epoch || Number(position) > last) return null;
  return { position: Number(position), index: index === undefined ? Infinity : Number(index) };
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
    else if (this.hasBegun) this.#waiting.push(event);
  }

  /** Sends the events of an earlier command, those after a place. */
  catchUp(
    epoch: string,
    position: number,
    events: readonly StateEvent[],
    after: EventPlace,
  ): MaybePromise<void> {
    for (const [index, event] of events.entries()) {
      if (position > after.position || index > after.index)
        this.#reader.take(published(epoch, position, index, event));
    }
    return this.#reader.ready?.();
  }

  /** Says that events up to a position are no longer known. */
  miss(epoch: string, position: number): void {
    this.#reader.take({ id: idAfter(epoch, position), type: 'missed', data: MISSED });
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

export const published = (
  epoch: string,
  position: number,
  index: number,
  event: StateEvent,
): PublishedEvent => ({
  id: `${epoch}.${position}.${index}`,
  type: event.type,
  data: JSON.stringify(eventData(event)),
});

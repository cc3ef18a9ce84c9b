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

/** The newest events of a world that a server knows, each with the sums of the world right after it. */
interface Known {
  /** The number of the newest, and how many of those before it are known. */
  readonly latest: number;
  readonly length: number;
  at(number: number): { readonly event: StateEvent; readonly sums: Sums };
  /** The one that a reader got last, since the others get it next. */
  sent: { readonly number: number; readonly event: PublishedEvent } | null;
}

const MISSED = JSON.stringify({ missed: null });
const ID = /^([a-z0-9]+)-(\d{1,15})$/;

/** The id of an event: the life of its world, and its number there, counted from 1. */
export const idOf = (epoch: string, number: number): string => `${epoch}-${number}`;

/** The number of the event after one that a reader has; 0, which none has, if that is not an event of this life of the world. */
export function numberAfter(id: string, epoch: string, { latest }: Known): number {
  const [, ofEpoch, number] = ID.exec(id) ?? [];
  return ofEpoch === epoch && Number(number) <= latest ? Number(number) + 1 : 0;
}

/** An event, or `missed` with the number of the latest that is no longer known. */
function eventAt(number: number, epoch: string, known: Known): NonNullable<Known['sent']> {
  const forgotten = known.latest - known.length;
  if (number <= forgotten)
    return { number: forgotten, event: { id: idOf(epoch, forgotten), type: 'missed', data: MISSED } };
  if (known.sent?.number === number) return known.sent;
  const { event, sums } = known.at(number);
  const data = JSON.stringify(eventData(event, sums));
  known.sent = { number, event: { id: idOf(epoch, number), type: event.type, data } };
  return known.sent;
}

/** One reader, and how far it has read. */
export class Reading {
  readonly #reader: EventReader;
  readonly #left: (reading: Reading) => void;
  readonly #failed: (error: unknown) => void;
  /** The number of its next event; null until it was accepted. Before that it is refused instead of ended. */
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

  get hasBegun(): boolean {
    return this.#next !== null;
  }

  /** Sends the events that the reader has not got, for as long as it has room. */
  send(known: Known, epoch: string): void {
    try {
      while (this.#hasRoom && this.#next !== null && this.#next <= known.latest) {
        const { number, event } = eventAt(this.#next, epoch, known);
        this.#next = number + 1;
        this.#reader.take(event);
        const room = this.#reader.ready?.();
        if (room !== undefined) void this.#wait(room).then(() => this.send(known, epoch));
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
    this.stop();
    this.#reader.end();
  }

  stop = (): void => {
    this.#next = null;
    this.#left(this);
  };
}

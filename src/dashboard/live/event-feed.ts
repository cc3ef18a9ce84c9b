import { signal } from '@preact/signals';
import { SandboxError } from '../../client/control-client.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import type { World } from '../../client/world.ts';
import { messageOf } from '../lists/formats.ts';

type Connection =
  /** gone: the server does not answer, and the page keeps trying. */
  | { readonly state: 'connecting' | 'live' | 'gone' }
  /** The server answers, but refuses this key or this reader. */
  | { readonly state: 'refused'; readonly status: number; readonly message: string };

interface FeedReader {
  readonly take: (event: WorldEvent) => void;
  /** A connection is open. @param isFirst whether it is the first, so that everything has to be requested */
  readonly opened: (isFirst: boolean) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;
const UNAUTHORIZED = 401;

/** Reads the events of a world. After a broken connection it reconnects and continues after the last event. */
export class EventFeed {
  readonly connection = signal<Connection>({ state: 'connecting' });
  readonly #world: World;
  readonly #reader: FeedReader;
  #lastId: string | undefined;
  #broken = new AbortController();
  #isOver = false;
  #wake = (): void => undefined;

  constructor(world: World, reader: FeedReader) {
    this.#world = world;
    this.#reader = reader;
  }

  /** Reads until it is closed. */
  async read(): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    while (!this.#isOver) {
      try {
        this.#broken = new AbortController();
        const events = await this.#world.events({
          ...(this.#lastId === undefined ? {} : { after: this.#lastId }),
          signal: this.#broken.signal,
        });
        waitMs = FIRST_WAIT_MS;
        this.connection.value = { state: 'live' };
        this.#reader.opened(this.#lastId === undefined);
        for await (const event of events) {
          this.#lastId = event.id;
          this.#reader.take(event);
        }
        this.connection.value = { state: 'gone' };
      } catch (error) {
        if (error instanceof SandboxError) {
          this.connection.value = { state: 'refused', status: error.status, message: messageOf(error) };
          if (error.status === UNAUTHORIZED) return;
        } else {
          this.connection.value = { state: 'gone' };
        }
      }
      if (this.#isOver) return;
      await this.#wait(waitMs);
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    }
  }

  /** Closes the connection, so that it is opened again: a dead one can stay silent for long. */
  break(): void {
    this.#broken.abort();
  }

  /** Reconnects at once instead of at the next try. */
  retry(): void {
    this.#wake();
  }

  close(): void {
    this.#isOver = true;
    this.break();
    this.retry();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

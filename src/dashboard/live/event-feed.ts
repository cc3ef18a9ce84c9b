import { signal } from '@preact/signals';
import { SandboxError } from '../../client/control-client.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import type { World } from '../../client/world.ts';
import { messageOf } from '../lists/formats.ts';

type Connection =
  /** reconnecting, later gone: no server answers, and the page keeps trying. */
  | { readonly state: 'connecting' | 'live' | 'reconnecting' | 'gone' }
  /** The server answers, but refuses this key or this reader. */
  | { readonly state: 'refused'; readonly status: number; readonly message: string };

interface FeedReader {
  readonly take: (event: WorldEvent) => void;
  /** A connection is open. @param isFirst whether it is the first, so that everything has to be requested */
  readonly opened: (isFirst: boolean) => void;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;
/** A connection that breaks sooner than this counts as one that was not made. */
const STEADY_MS = 1000;
/** A lost connection is shown only after this time, first briefly, later in a sentence: when a replica stops, others take over. */
const QUIET_MS = 1000;
const GONE_MS = 3000;
const UNAUTHORIZED = 401;

/** The statuses of a server that is stopping, or of a proxy without a server: another one may answer. */
const NO_SERVER: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether an error means that no server answered, rather than that one refused. */
export const isUnreachable = (error: unknown): boolean =>
  !(error instanceof SandboxError) || NO_SERVER.has(error.status);

/** Reads the events of a world. After a broken connection it reconnects and continues after the last event. */
export class EventFeed {
  readonly connection = signal<Connection>({ state: 'connecting' });
  readonly #world: World;
  readonly #reader: FeedReader;
  #lastId: string | undefined;
  #broken = new AbortController();
  #isOver = false;
  #patience: ReturnType<typeof setTimeout>[] = [];
  #wake = (): void => undefined;

  constructor(world: World, reader: FeedReader) {
    this.#world = world;
    this.#reader = reader;
  }

  /** Reads until it is closed. */
  async read(): Promise<void> {
    let waitMs = 0;
    while (!this.#isOver) {
      let openedMs = Infinity;
      try {
        this.#broken = new AbortController();
        const events = await this.#world.events({
          ...(this.#lastId === undefined ? {} : { after: this.#lastId }),
          signal: this.#broken.signal,
        });
        openedMs = performance.now();
        this.#say('live');
        this.#reader.opened(this.#lastId === undefined);
        for await (const event of events) {
          this.#lastId = event.id;
          this.#reader.take(event);
        }
        this.#lose();
      } catch (error) {
        if (isUnreachable(error)) this.#lose();
        else {
          const { status } = error as SandboxError;
          this.#stopWaiting();
          this.connection.value = { state: 'refused', status, message: messageOf(error) };
          if (status === UNAUTHORIZED) return;
        }
      }
      if (this.#isOver) return;
      const wasSteady = performance.now() - openedMs > STEADY_MS;
      waitMs = wasSteady ? 0 : Math.min(Math.max(waitMs * 2, FIRST_WAIT_MS), LONGEST_WAIT_MS);
      await this.#wait(waitMs);
    }
  }

  /** Closes the connection, so that it is opened again: a dead one can stay silent for long. */
  break(): void {
    this.#broken.abort();
  }

  /**
   * The answer to a question; null for an error. If none came, the connection is opened again, so whoever asks with each new
   * connection asks again.
   */
  async answerTo<T>(question: Promise<T>): Promise<T | null> {
    try {
      return await question;
    } catch (error) {
      if (!(error instanceof SandboxError)) this.break();
      return null;
    }
  }

  /** Reconnects at once instead of at the next try. */
  retry(): void {
    this.#wake();
  }

  close(): void {
    this.#isOver = true;
    this.#stopWaiting();
    this.break();
    this.retry();
  }

  #say(state: 'live' | 'reconnecting' | 'gone'): void {
    if (state === 'live') this.#stopWaiting();
    this.connection.value = { state };
  }

  /** Handles a lost connection, which is not shown at first. */
  #lose(): void {
    if (this.#isOver || this.#patience.length > 0) return;
    this.#patience = [
      setTimeout(() => this.#say('reconnecting'), QUIET_MS),
      setTimeout(() => this.#say('gone'), GONE_MS),
    ];
  }

  #stopWaiting(): void {
    for (const timer of this.#patience.splice(0)) clearTimeout(timer);
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

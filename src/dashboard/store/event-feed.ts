import { signal } from '@preact/signals';
import { SandboxError } from '../../client/control-client.ts';
import type { WorldEvent } from '../../client/event-stream.ts';
import type { World } from '../../client/controlled-world.ts';
import { messageOf } from '../ui/formats.ts';

type Connection =
  | { readonly state: 'connecting' | 'live' | 'reconnecting' }
  /** No server answers, or what answers cannot serve this world now. It keeps trying. @param message of the server, if one responses */
  | { readonly state: 'gone'; readonly message: string | null }
  /** The server answers, but refuses this key or this reader. */
  | { readonly state: 'refused'; readonly status: number; readonly message: string };

interface FeedReader {
  readonly take: (event: WorldEvent) => void;
  /** A connection is open. @param isNew whether events may be missing, so that everything has to be requested */
  readonly opened: (isNew: boolean) => void;
}

type Page = Pick<Document, 'hidden' | 'addEventListener'>;

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8000;
/** A connection that breaks sooner than this counts as one that was not made. */
const STEADY_MS = 1000;
/** A lost connection is shown only after a second, first briefly, two seconds later in a sentence: when a replica stops, others take over. */
const QUIET_MS = 1000;
const GONE_MS = 2000;
const UNAUTHORIZED = 401;
const STORE_AWAY = 'STORE_UNAVAILABLE';

/** The statuses of a server that is stopping, or of a proxy without a server: another one may answer. */
const NO_SERVER: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether an error means that no server can answer now, rather than that one refused. */
export const isUnreachable = (error: unknown): boolean =>
  !(error instanceof SandboxError) || NO_SERVER.has(error.status);

/** What a sandbox says that runs without its store; null for any other error. */
const storeTrouble = (error: unknown): string | null =>
  error instanceof SandboxError && error.code === STORE_AWAY ? error.message : null;

/**
 * Follows the events of a world while the page is visible, since a browser opens only six connections to a server. After a broken
 * connection it reconnects and continues after the last event.
 */
export class EventFeed {
  readonly connection = signal<Connection>({ state: 'connecting' });
  readonly #world: World;
  readonly #reader: FeedReader;
  readonly #page: Page;
  readonly #over = new AbortController();
  #lastId: string | undefined;
  #broken = new AbortController();
  #patience: ReturnType<typeof setTimeout> | undefined;
  #wake = (): void => undefined;

  constructor(world: World, reader: FeedReader, page: Page = document) {
    this.#world = world;
    this.#reader = reader;
    this.#page = page;
  }

  /** Follows until it is closed. */
  async read(): Promise<void> {
    const over = this.#over.signal;
    while (!over.aborted) {
      const ending = new AbortController(); // when the page is hidden or shown, or at the end
      const turn = ending.signal;
      const end = (): void => ending.abort();
      this.#page.addEventListener('visibilitychange', end, { signal: turn });
      over.addEventListener('abort', end, { signal: turn });
      if (this.#page.hidden) await new Promise((resolve) => turn.addEventListener('abort', resolve));
      else await this.#readUntil(turn);
    }
  }

  /** Closes the connection, so that it is opened again: a dead one can stay silent for long. */
  break(error?: unknown): void {
    const message = storeTrouble(error);
    if (message !== null) this.#say({ state: 'gone', message });
    this.#broken.abort();
  }

  /**
   * The response to a question; null for an error. If none came, the connection is opened again, so whoever asks with each new
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

  close(): void {
    this.#over.abort();
    clearTimeout(this.#patience);
    this.break();
    this.#wake();
  }

  async #readUntil(turn: AbortSignal): Promise<void> {
    turn.addEventListener('abort', () => this.#wake());
    for (let waitMs = 0; !turn.aborted; await this.#wait(waitMs, turn)) {
      let openedMs = Infinity;
      try {
        this.#broken = new AbortController();
        const events = await this.#world.events({
          ...(this.#lastId === undefined ? {} : { after: this.#lastId }),
          signal: AbortSignal.any([turn, this.#broken.signal]),
        });
        openedMs = performance.now();
        const isNew = this.#lastId === undefined;
        this.#lastId = events.from;
        this.#say({ state: 'live' });
        this.#reader.opened(isNew);
        for await (const event of events) this.#take(event);
        if (!turn.aborted) this.#lose(null);
      } catch (error) {
        if (turn.aborted) break;
        if (isUnreachable(error)) this.#lose(storeTrouble(error));
        else {
          const { status } = error as SandboxError;
          this.#say({ state: 'refused', status, message: messageOf(error) });
          if (status === UNAUTHORIZED) this.#over.abort();
        }
      }
      const wasSteady = performance.now() - openedMs > STEADY_MS;
      waitMs = wasSteady ? 0 : Math.min(Math.max(waitMs * 2, FIRST_WAIT_MS), LONGEST_WAIT_MS);
    }
  }

  #take(event: WorldEvent): void {
    this.#lastId = event.id;
    this.#reader.take(event);
  }

  #say(connection: Connection): void {
    clearTimeout(this.#patience);
    this.#patience = undefined;
    this.connection.value = connection;
  }

  /** Handles a lost connection, which is not shown at first unless the server says what is wrong. */
  #lose(message: string | null): void {
    if (message !== null || this.connection.value.state === 'gone')
      return this.#say({ state: 'gone', message });
    this.#patience ??= setTimeout(() => {
      this.#say({ state: 'reconnecting' });
      this.#patience = setTimeout(() => this.#say({ state: 'gone', message: null }), GONE_MS);
    }, QUIET_MS);
  }

  #wait(ms: number, turn: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      if (turn.aborted) this.#wake();
    });
  }
}

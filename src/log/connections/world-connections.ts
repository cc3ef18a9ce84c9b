import type { StateEvent } from '../../world/events.ts';
import { DelayedResponses } from './delayed-responses.ts';
import { Readers } from './readers.ts';
import { Releases } from './releases.ts';

/** What belongs to the connections that this server has to one world. */
export class WorldConnections {
  /** The responses that rules delay. */
  readonly delayed: DelayedResponses;
  /** How the requests ended that rules hold until somebody releases them. */
  readonly releases = new Releases();
  readonly readers: Readers;
  readonly #wake: (woken: () => void) => () => void;
  readonly #woken: () => void;
  #stopWaking: (() => void) | null = null;
  #isClosed = false;

  /**
   * @param wake calls back when another server may have changed the world; returns a function that ends this
   * @param woken called then, as long as a connection waits for it
   */
  constructor(wake: (woken: () => void) => () => void, woken: () => void) {
    this.#wake = wake;
    this.#woken = woken;
    this.delayed = new DelayedResponses(() => this.listen());
    this.readers = new Readers(() => this.#listenWhileNeeded());
  }

  get isEmpty(): boolean {
    return this.delayed.isEmpty && this.readers.isEmpty;
  }

  /** Listens to what other servers do, as long as a connection waits for it. */
  listen(): void {
    if (this.#stopWaking !== null || this.#isClosed) return;
    this.#stopWaking = this.#wake(() => {
      if (this.#listenWhileNeeded()) this.#woken();
    });
  }

  /** Sends the events of a command to all readers. @param failed called when sending to a reader fails: the command itself is applied */
  publish(
    place: { readonly epoch: string; readonly position: number },
    events: readonly StateEvent[],
    isOwn: boolean,
    failed: (error: unknown) => void,
  ): void {
    for (const [index, event] of events.entries()) {
      this.releases.take(event, isOwn);
      try {
        this.readers.publish(place.epoch, place.position, index, event);
      } catch (error) {
        failed(error);
      }
    }
  }

  /** Ends the responses that rules hold back: their requests are over. */
  endHeldBack(): void {
    this.delayed.release();
    this.releases.clear();
  }

  /** Ends the delayed responses and the readers, when the sandbox stops. */
  release(): void {
    this.delayed.release(true);
    this.readers.end();
  }

  /** Ends them for good. */
  close(): void {
    this.#isClosed = true;
    this.#listenNoMore();
    this.delayed.close();
    this.readers.end();
  }

  /** @returns whether a connection still waits for what other servers do */
  #listenWhileNeeded(): boolean {
    if (this.isEmpty) this.#listenNoMore();
    return !this.isEmpty;
  }

  #listenNoMore(): void {
    this.#stopWaking?.();
    this.#stopWaking = null;
  }
}

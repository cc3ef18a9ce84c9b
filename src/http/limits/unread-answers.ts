import type { ServerResponse } from 'node:http';

/** A shorter answer is not counted: there are no more of them than requests that may be under way. */
const SHORT_BYTES = 16 * 1024;

/**
 * The long answers that wait for their readers. Past what they may take together, the connection of the oldest ends, whosever
 * it is: a reader who reads is never the oldest for long. The newest is never cut off, however long it is: what an advance over
 * a million steps has to tell was done already, and is told.
 */
export class UnreadAnswers {
  readonly #maxBytes: number;
  readonly #ended: (limit: string) => void;
  readonly #waiting = new Map<ServerResponse, number>();
  #bytes = 0;

  /**
   * @param maxBytes what they may take together
   * @param ended is told of each connection that is ended, and by which limit
   */
  constructor(maxBytes: number, ended: (limit: string) => void) {
    this.#maxBytes = maxBytes;
    this.#ended = ended;
  }

  /** Says how many bytes of an answer wait now. */
  wait(response: ServerResponse, bytes: number): void {
    if (response.req.socket.destroyed) return; // nobody waits for it
    const before = this.#waiting.get(response) ?? 0;
    if (bytes < SHORT_BYTES) {
      if (before > 0) this.read(response);
      return;
    }
    this.#waiting.set(response, bytes);
    this.#bytes += bytes - before;
    for (const oldest of this.#waiting.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === response) break;
      this.read(oldest);
      oldest.req.socket.destroy();
      this.#ended('unread answers');
    }
  }

  /** Nothing of it waits any more: it was read, or its connection has ended. */
  read(response: ServerResponse): void {
    this.#bytes -= this.#waiting.get(response) ?? 0;
    this.#waiting.delete(response);
  }
}

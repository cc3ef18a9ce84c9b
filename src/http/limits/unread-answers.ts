import type { ServerResponse } from 'node:http';

/** Shorter answers are not counted: the bounds of connections and of pipelined requests bound them too. */
const SHORT_BYTES = 16 * 1024;

/**
 * Bounds the memory of long answers that their clients have not read. Past the bound the connection of the oldest answer ends:
 * an answer that is being read is not the oldest for long. The newest is never cut off, however long it is, since what it
 * reports has been done already.
 */
export class UnreadAnswers {
  readonly #maxBytes: number;
  readonly #ended: (limit: string) => void;
  readonly #waiting = new Map<ServerResponse, number>();
  #bytes = 0;

  /**
   * @param maxBytes the most bytes of all waiting answers together
   * @param ended called with the limit, for each connection that is ended
   */
  constructor(maxBytes: number, ended: (limit: string) => void) {
    this.#maxBytes = maxBytes;
    this.#ended = ended;
  }

  /** Records how many bytes of an answer are unread now. */
  wait(response: ServerResponse, bytes: number): void {
    if (response.req.socket.destroyed) return;
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

  /** Forgets an answer that was read, or whose connection has ended. */
  read(response: ServerResponse): void {
    this.#bytes -= this.#waiting.get(response) ?? 0;
    this.#waiting.delete(response);
  }
}

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { WallClock } from '../../worlds/wall-clock.ts';

/** Shorter answers are not counted: the bounds of connections and of pipelined requests bound them too. */
const SHORT_BYTES = 16 * 1024;

interface Unread {
  bytes: number;
  readonly forget: () => void;
}

/**
 * Bounds the memory of long answers that their clients have not read. Past the bound the connection of the oldest answer ends:
 * a response that is being read is not the oldest for long. The newest is never cut off, however long it is, since the
 * work that it reports is already done.
 */
export class UnreadResponses {
  readonly #maxBytes: number;
  readonly #end: (socket: Socket, limit: string) => void;
  readonly #waiting = new Map<ServerResponse, Unread>();
  #bytes = 0;

  /** @param end ends a connection by a limit */
  constructor(maxBytes: number, end: (socket: Socket, limit: string) => void) {
    this.#maxBytes = maxBytes;
    this.#end = end;
  }

  /** Records how many bytes of a response are unread now, until it or its connection has closed. */
  wait(response: ServerResponse, bytes: number): void {
    if (response.req.socket.destroyed) return;
    if (bytes < SHORT_BYTES) return this.#waiting.get(response)?.forget();
    const counted = this.#waiting.get(response) ?? this.#watch(response);
    this.#bytes += bytes - counted.bytes;
    counted.bytes = bytes;
    for (const [oldest, { forget }] of this.#waiting) {
      if (this.#bytes <= this.#maxBytes || oldest === response) break;
      forget();
      this.#end(oldest.req.socket, 'unread responses');
    }
  }

  #watch(response: ServerResponse): Unread {
    const forget = (): void => {
      this.#bytes -= unread.bytes;
      this.#waiting.delete(response);
      response.off('close', forget);
    };
    const unread = { bytes: 0, forget };
    this.#waiting.set(response, unread);
    response.once('close', forget);
    return unread;
  }
}

export interface SendContext {
  readonly wallClock: WallClock;
  readonly unread: UnreadResponses;
}

/** How much of a text is made ahead of its reader. */
const BYTES_AHEAD = 512 * 1024;
const PIECE_CHARACTERS = 64 * 1024;

type Texts = Iterable<string> | AsyncIterable<string>;

async function* inPieces(texts: Texts, wallClock: WallClock): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
    await wallClock.yieldToEventLoop();
  }
  if (piece !== '') yield piece;
}

/**
 * Sends a text that is made as it is read. Other requests run after each piece.
 *
 * @param bytes about how much memory it takes while it is not read, in addition to the pieces that are made ahead
 */
export function sendInPieces(
  reply: FastifyReply,
  texts: Texts,
  bytes: number,
  { unread, wallClock }: SendContext,
): FastifyReply {
  unread.wait(reply.raw, BYTES_AHEAD + bytes);
  return reply.send(Readable.from(inPieces(texts, wallClock)));
}

/** A JSON object with a long list. @param object with that list empty @param items JSON texts, each of some items */
export async function* listText(object: object, items: Texts): AsyncGenerator<string> {
  const [before, after] = JSON.stringify(object).split('[]');
  yield `${before}[`;
  let separator = '';
  for await (const item of items) {
    yield separator + item;
    separator = ',';
  }
  yield `]${after}`;
}

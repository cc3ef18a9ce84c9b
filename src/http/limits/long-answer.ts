import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { WallClock } from '../../log/wall-clock.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** What long and delayed answers are sent with. */
export interface Waiting {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

/** The pieces that are made ahead of a reader. */
const BYTES_AHEAD = 512 * 1024;

type Pieces = Iterable<string> | AsyncIterable<string>;

async function* withTurns(pieces: Pieces, wallClock: WallClock): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield piece;
    await wallClock.yieldToEventLoop();
  }
}

/**
 * Sends a text that is made as it is read, and lets other requests have their turn after each piece.
 *
 * @param bytes about how much memory it takes while it is not read, beside the pieces that are made ahead
 */
export function sendInPieces(
  reply: FastifyReply,
  pieces: Pieces,
  bytes: number,
  { unread, wallClock }: Waiting,
): FastifyReply {
  unread.wait(reply.raw, BYTES_AHEAD + bytes);
  return reply.send(Readable.from(withTurns(pieces, wallClock)));
}

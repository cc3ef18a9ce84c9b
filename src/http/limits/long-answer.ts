import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { WallClock } from '../../log/wall-clock.ts';
import type { UnreadAnswers } from './unread-answers.ts';

/** A text that comes in pieces. */
interface InPieces {
  readonly pieces: Iterable<string> | AsyncIterable<string>;
  /** About how much memory it takes while it is not read, beside the pieces that are made ahead. */
  readonly bytes: number;
}

/** The pieces that are made ahead of a reader. */
const BYTES_AHEAD = 512 * 1024;

async function* withTurns(pieces: InPieces['pieces'], wallClock: WallClock): AsyncGenerator<string> {
  for await (const piece of pieces) {
    yield piece;
    await wallClock.yieldToEventLoop();
  }
}

/** Sends a text that comes in pieces, made as it is read, and lets other requests have their turn after each piece. */
export function sendInPieces(
  reply: FastifyReply,
  { pieces, bytes }: InPieces,
  unread: UnreadAnswers,
  wallClock: WallClock,
): FastifyReply {
  unread.wait(reply.raw, BYTES_AHEAD + bytes);
  return reply.send(Readable.from(withTurns(pieces, wallClock)));
}

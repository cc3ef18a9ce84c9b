import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { WallClock } from '../../log/wall-clock.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';

/** JSON that comes in pieces. */
export interface InPieces {
  readonly pieces: Iterable<string>;
  /** What it is made of takes about so much memory, for as long as it is not read. */
  readonly bytes: number;
}

/** The pieces that are made ahead of a reader. */
const BYTES_AHEAD = 512 * 1024;

/** What a list takes of so many items that are kept anyway. */
export const listBytes = (items: number): number => items * 64;

export const JSON_TYPE = 'application/json; charset=utf-8';

async function* inTurns(pieces: Iterable<string>, wallClock: WallClock): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece;
    await wallClock.letOthersRun();
  }
}

/** Sends JSON that comes in pieces, and lets other requests have their turn after each. */
export function sendInPieces(
  reply: FastifyReply,
  { pieces, bytes }: InPieces,
  unread: UnreadAnswers,
  wallClock: WallClock,
): FastifyReply {
  unread.wait(reply.raw, BYTES_AHEAD + bytes);
  return reply.type(JSON_TYPE).send(Readable.from(inTurns(pieces, wallClock)));
}

import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { WallClock } from '../domain/wall-clock.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

async function* inTurns(pieces: Iterable<string>, wallClock: WallClock): AsyncGenerator<string> {
  for (const piece of pieces) {
    yield piece;
    await wallClock.letOthersRun();
  }
}

/** Sends JSON that comes in pieces, and lets other requests have their turn after each. */
export const sendInPieces = (
  reply: FastifyReply,
  pieces: Iterable<string>,
  wallClock: WallClock,
): FastifyReply => reply.type(JSON_TYPE).send(Readable.from(inTurns(pieces, wallClock)));

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import { readBody, type LongBodies } from './body-bytes.ts';
import { isEncoded } from './json-body.ts';

/** Puts the pieces of a body together, one at a time: memory for a large one is new, and each page of it costs. */
async function joined(pieces: readonly Buffer[], letOthersRun: () => Promise<void>): Promise<Buffer> {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const body = Buffer.allocUnsafe(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    at += piece.copy(body, at);
    await letOthersRun();
  }
  return body;
}

/**
 * Takes JSON bodies as their bytes, and leaves it to the route to read them: one of 100,000 payouts, read at once, would hold up
 * all others for seconds.
 *
 * @param longBodies what long bodies share
 */
export function takeWholeBodies(
  app: Pick<FastifyInstance, 'removeAllContentTypeParsers' | 'addContentTypeParser'>,
  longBodies: LongBodies,
  letOthersRun: () => Promise<void>,
): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    if (isEncoded(request.headers)) {
      throw new Refusal('UNSUPPORTED_MEDIA_TYPE', {
        message: 'The request body must be JSON in plain UTF-8',
      });
    }
    const pieces = await new Promise<readonly Buffer[]>((resolve, reject) => {
      readBody(request, payload, longBodies, (error, pieces) =>
        error === null ? resolve(pieces) : reject(error),
      );
    });
    return joined(pieces, letOthersRun);
  });
}

import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { Refusal } from '../../contract/errors.ts';

const FIRST_BYTES = 1024;

export const bodyTooLarge = (limit: number): Refusal =>
  new Refusal('BODY_TOO_LARGE', { message: `The request body is larger than ${limit / 1024} KiB` });

/**
 * Collects a body in one buffer that doubles as it fills: a body that is sent byte by byte takes no more memory than any
 * other, and a Content-Length that is only claimed takes none.
 *
 * @param done called once, with the body or with the refusal
 */
export function collectBody(
  { headers, routeOptions: { bodyLimit } }: FastifyRequest,
  payload: Readable,
  done: (refusal: Refusal | null, body: Buffer) => void,
): void {
  let body = Buffer.allocUnsafe(FIRST_BYTES);
  let length = 0;
  const finish = (refusal: Refusal | null): void => {
    payload.off('data', add).off('end', end).off('error', abort);
    done(refusal, body.subarray(0, length));
  };
  const end = (): void => finish(null);
  const abort = (): void => finish(new Refusal('MALFORMED_REQUEST')); // the client has left
  const add = (chunk: Buffer): void => {
    const needed = length + chunk.length;
    if (needed > bodyLimit) return finish(bodyTooLarge(bodyLimit));
    if (needed > body.length) {
      const larger = Buffer.allocUnsafe(Math.min(bodyLimit, Math.max(needed, 2 * body.length)));
      body.copy(larger, 0, 0, length);
      body = larger;
    }
    length += chunk.copy(body, length);
  };
  if (Number(headers['content-length']) > bodyLimit) return finish(bodyTooLarge(bodyLimit));
  payload.on('data', add).once('end', end).once('error', abort);
}

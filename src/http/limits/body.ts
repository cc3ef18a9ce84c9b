import type { FastifyRequest } from 'fastify';
import { Refusal } from '../../contract/errors.ts';

/** The longest body, except for snapshots. */
export const MAX_BODY_BYTES = 64 * 1024;

export const bodyTooLarge = (limit: number): Refusal =>
  new Refusal('BODY_TOO_LARGE', { message: `The request body is larger than ${limit / 1024} KiB` });

/** Calls back once with a body, or with why it is refused, as soon as that is known. */
export type BodyReader = (done: (refusal: Refusal | null, body: Buffer) => void) => void;

/** Collects a body: its first chunk, as most have no other, then one buffer, since an object for each chunk of a byte would take far more. */
function collectBody({ headers, routeOptions: { bodyLimit }, raw }: FastifyRequest): BodyReader {
  let body: Buffer = Buffer.alloc(0);
  let length = 0;
  let refused: Refusal | null | undefined;
  let callback: Parameters<BodyReader>[0] | undefined;
  const finish = (refusal: Refusal | null): void => {
    if (refused !== undefined) return;
    refused = refusal;
    callback?.(refusal, body.subarray(0, length));
  };
  raw.on('data', (chunk: Buffer) => {
    if (refused !== undefined) return;
    if (length + chunk.length > bodyLimit) return finish(bodyTooLarge(bodyLimit));
    if (length === 0) body = chunk;
    else {
      if (length === body.length) body = Buffer.concat([body], bodyLimit);
      chunk.copy(body, length);
    }
    length += chunk.length;
  });
  raw.once('end', () => finish(null));
  raw.once('error', () => finish(new Refusal('MALFORMED_REQUEST'))); // the client has left
  if (Number(headers['content-length']) > bodyLimit) finish(bodyTooLarge(bodyLimit));
  return (done) => {
    if (refused === undefined) callback = done;
    else done(refused, body.subarray(0, length));
  };
}

/**
 * Begins to collect a body before its request waits for its turn: Node.js stops reading a connection with a body that nobody takes,
 * which hides that its client leaves.
 */
export function takeBody(request: FastifyRequest): void {
  const { raw, exchange, routeOptions } = request;
  const isRead = raw.readableFlowing !== true && routeOptions.bodyLimit <= MAX_BODY_BYTES; // a longer one is read as it comes
  if (isRead) exchange.body = collectBody(request);
}

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import { isTooNested, MAX_NESTING } from '../../contract/service.ts';
import { invalidField } from '../route-schemas.ts';

const OTHER_CHARSET = /charset=(?!"?utf-?8"?\s*(;|$))/i;

/** Whether the headers say that a body is compressed, or in another character set. */
export const isEncoded = ({
  'content-encoding': encoding = 'identity',
  'content-type': type = '',
}: IncomingHttpHeaders) => encoding.toLowerCase() !== 'identity' || OTHER_CHARSET.test(type);

function encodingRefusal(headers: IncomingHttpHeaders, body: Buffer): Refusal | null {
  if (isEncoded(headers)) {
    const { 'content-encoding': encoding = 'none', 'content-type': type } = headers;
    return new Refusal('UNSUPPORTED_MEDIA_TYPE', {
      message: `The request body must be JSON in UTF-8, not compressed: send Content-Type: application/json and no Content-Encoding; this request has Content-Type: ${type?.slice(0, LONGEST_HEADER)} and Content-Encoding: ${encoding.slice(0, LONGEST_HEADER)}`,
    });
  }
  if (isUtf8(body)) return null;
  return new Refusal('INVALID_JSON', { message: 'The request body is not valid UTF-8' });
}

/** Code that walks a deeper body would overflow the stack. */
const TOO_NESTED = `must not be nested deeper than ${MAX_NESTING} levels`;

/** How much of a header a message repeats. */
export const LONGEST_HEADER = 60;

/** The longest body, except for snapshots. */
export const MAX_BODY_BYTES = 64 * 1024;

const BYTE_ORDER_MARK = '\uFEFF';

export const bodyTooLarge = (limit: number): Refusal =>
  new Refusal('BODY_TOO_LARGE', { message: `The request body is larger than ${limit / 1024} KiB` });

/** Calls back once with a body, or with why it is refused, as soon as that is known. */
export type BodyReader = (done: (refusal: Refusal | null, body: Buffer) => void) => void;

/**
 * Collects a body: its first chunk, as most have no other, then one buffer that doubles as it fills. A body that is sent byte by
 * byte takes no more memory than any other, and a Content-Length that is only claimed takes none.
 */
function collectBody(
  { headers, routeOptions: { bodyLimit } }: FastifyRequest,
  payload: Readable,
): BodyReader {
  let body: Buffer = Buffer.alloc(0);
  let length = 0;
  let refused: Refusal | null | undefined;
  let callback: Parameters<BodyReader>[0] | undefined;
  const finish = (refusal: Refusal | null): void => {
    payload.off('data', add).off('end', end).off('error', abort);
    refused = refusal;
    callback?.(refusal, body.subarray(0, length));
  };
  const end = (): void => finish(null);
  const abort = (): void => finish(new Refusal('MALFORMED_REQUEST')); // the client has left
  const add = (chunk: Buffer): void => {
    const needed = length + chunk.length;
    if (needed > bodyLimit) return finish(bodyTooLarge(bodyLimit));
    if (length === 0) body = chunk;
    else if (needed > body.length) {
      const larger = Buffer.allocUnsafe(Math.min(bodyLimit, Math.max(needed, 2 * body.length)));
      body.copy(larger, 0, 0, length);
      body = larger;
    }
    if (length > 0) chunk.copy(body, length);
    length = needed;
  };
  if (Number(headers['content-length']) > bodyLimit) refused = bodyTooLarge(bodyLimit);
  else payload.on('data', add).once('end', end).once('error', abort);
  return (done) => {
    if (refused === undefined) callback = done;
    else done(refused, body.subarray(0, length));
  };
}

/**
 * Begins to collect a body before its request waits for its turn: Node.js stops reading a connection with a body that nobody takes,
 * which hides that its client leaves, and keeps an object for each chunk.
 */
export function takeBody(request: FastifyRequest): void {
  const { raw, exchange, routeOptions } = request;
  const isRead = raw.readableFlowing !== true && routeOptions.bodyLimit <= MAX_BODY_BYTES; // a longer one is read as it comes
  if (isRead) exchange.body = collectBody(request, raw);
}

/**
 * Accepts JSON bodies in UTF-8 and no others. Bytes that are not UTF-8 are refused, since decoding would replace them,
 * and two references could become one.
 * Keys such as `__proto__` stay in the parsed body: only fields that a schema names go any further, and a dialect may refuse
 * them like every unknown field.
 *
 * @param isControl for bodies of the control API. Some of their parts have no schema, so such keys are refused. An empty body
 *   counts as no body, since some clients send one with every POST
 */
export function takeJsonBodies(app: FastifyInstance, isControl = false): void {
  const ofPrototypes = isControl ? 'error' : 'ignore';
  const parse = app.getDefaultJsonParser(ofPrototypes, ofPrototypes);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    const read = request.exchange.body ?? collectBody(request, payload);
    read((refusal, body) => {
      const wrong = refusal ?? encodingRefusal(request.headers, body);
      if (wrong !== null) return done(wrong);
      const text = body.toString('utf8');
      request.exchange.bodyText = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text; // as it is parsed
      if (isTooNested(text)) return done(invalidField('body', TOO_NESTED));
      if (isControl && text.trim() === '') return done(null);
      void parse(request, text, done);
    });
  });
}

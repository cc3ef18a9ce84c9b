import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Refusal, invalidField } from '../contract/errors.ts';
import { isTooNested, TOO_NESTED } from '../contract/service.ts';

const BYTE_ORDER_MARK = '\uFEFF';
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

/** How much of a header a message repeats. */
export const LONGEST_HEADER = 60;

/** The longest body, except for snapshots. */
export const MAX_BODY_BYTES = 64 * 1024;

export const bodyTooLarge = (limit: number): Refusal =>
  new Refusal('BODY_TOO_LARGE', { message: `The request body is larger than ${limit / 1024} KiB` });

/** Calls back once with a body, or with why it is refused, as soon as that is known. */
export type BodyReader = (done: (refusal: Refusal | null, body: Buffer) => void) => void;

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
  app.addContentTypeParser('application/json', (request, _payload, done) => {
    request.exchange.body!((refusal, body) => {
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

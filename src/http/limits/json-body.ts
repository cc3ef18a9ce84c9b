import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../contract/errors.ts';
import { tooCrowded, tooNested } from './body-refusals.ts';
import { isTooCrowded } from './crowding.ts';
import { isTooNested } from '../../contract/nesting.ts';
import { readBody, type LongBodies } from './body-bytes.ts';

const OTHER_CHARSET = /charset=(?!"?utf-?8"?\s*(;|$))/i;

/** Whether a body says of itself that it is compressed, or in another character set. */
export const isEncoded = ({
  'content-encoding': encoding = 'identity',
  'content-type': type = '',
}: IncomingHttpHeaders) => encoding !== 'identity' || OTHER_CHARSET.test(type);

/**
 * Takes JSON bodies in UTF-8 and no others. Bytes that are no UTF-8 are refused, since decoding would replace them,
 * and two references could become one. Keys that would touch a prototype are left out, like every unknown field.
 *
 * @param longBodies what long bodies share
 * @param emptyIsNone whether an empty body is none, whatever its media type says: clients send one with every POST
 */
export function takeJsonBodies(app: FastifyInstance, longBodies: LongBodies, emptyIsNone = false): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request, payload, done) => {
    readBody(request, payload, longBodies, (error, pieces) => {
      if (error !== null) return done(error);
      if (isEncoded(request.headers)) {
        return done(
          new Refusal('UNSUPPORTED_MEDIA_TYPE', { message: 'The request body must be JSON in plain UTF-8' }),
        );
      }
      const body = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      if (!isUtf8(body)) {
        return done(new Refusal('INVALID_JSON', { message: 'The request body is not valid UTF-8' }));
      }
      const text = body.toString('utf8');
      request.bodyText = text;
      if (isTooNested(text)) return done(tooNested()); // what reads it would overflow its stack
      if (isTooCrowded(text)) return done(tooCrowded()); // what reads it would take all memory there is
      if (emptyIsNone && text.trim() === '') return done(null);
      void parse(request, text, done);
    });
  });
}

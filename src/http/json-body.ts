import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../contract/errors.ts';
import { noteBody } from './request-record.ts';

/**
 * Takes JSON bodies in UTF-8 and no others. Bytes that are no UTF-8 are refused, since decoding would replace them,
 * and two references could become one. Keys that would touch a prototype are left out, like every unknown field.
 *
 * @param emptyIsNone whether an empty body is none, whatever its media type says: clients send one with every POST
 */
export function takeJsonBodies(app: FastifyInstance, emptyIsNone = false): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isUtf8(body)) {
      const text = body.toString('utf8');
      noteBody(request, text);
      if (emptyIsNone && text.trim() === '') done(null);
      else void parse(request, text, done);
    } else {
      done(new Refusal('INVALID_JSON', { message: 'The request body is not valid UTF-8' }));
    }
  });
}

import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Refusal } from '../../contract/errors.ts';
import type { WorldEvent } from '../../world/event-log.ts';
import type { WallClock } from '../../log/wall-clock.ts';
import type { UnreadAnswers } from '../limits/unread-answers.ts';

const LastEventId = z.object({
  'Last-Event-ID': z.string().optional().meta({ description: 'The id of the last event that a reader has' }),
});

interface Options {
  readonly wallClock: WallClock;
  readonly unread: UnreadAnswers;
}

/** A reader that has so much left to read is cut off: he comes back with the id of what he has. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** How often a stream shows that it is alive, so that neither a proxy nor a reader takes it for dead. */
const HEARTBEAT_MS = 15_000;

const frame = ({ id, type, data }: WorldEvent): string => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;

/** What happens in a world, live, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const eventRoutes: FastifyPluginAsyncZod<Options> = async (app, { wallClock, unread }) => {
  app.get(
    '/events',
    {
      schema: {
        operationId: 'readEvents',
        summary: 'What happens in this world, live',
        tag: 'Journal',
        errors: ['TOO_MANY_READERS'],
        requestHeaders: LastEventId,
        answers: { type: 'text/event-stream', description: 'Server-sent events, until the reader leaves' },
      },
    },
    (request, reply) => {
      const { events } = request.world;
      if (events.isFull) throw new Refusal('TOO_MANY_READERS');
      void reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        ...(reply.getHeaders() as NodeJS.Dict<string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      raw.write(': the events of this world\n\n');

      const send = (text: string): void => {
        if (raw.writableLength > MAX_BUFFERED_BYTES) raw.destroy();
        else raw.write(text);
        unread.wait(raw, raw.writableLength);
      };
      let cancelBeat = (): void => undefined;
      const beat = (): void => {
        send(': alive\n\n');
        cancelBeat = wallClock.alarm(wallClock.nowMs() + HEARTBEAT_MS, beat);
      };
      cancelBeat = wallClock.alarm(wallClock.nowMs() + HEARTBEAT_MS, beat);
      const { 'last-event-id': last } = request.headers;
      const leave = events.read(typeof last === 'string' ? last : undefined, {
        take: (event) => send(frame(event)),
        end: () => raw.end(),
      });
      raw.once('close', () => {
        cancelBeat();
        leave();
      });
    },
  );
};

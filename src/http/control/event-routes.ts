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
        refuses: ['TOO_MANY_READERS'],
        heeds: LastEventId,
        answers: { type: 'text/event-stream', description: 'Server-sent events, until the reader leaves' },
      },
    },
    (request, reply) => {
      const { events } = request.world;
      if (events.isFull) throw new Refusal('TOO_MANY_READERS');
      const { socket } = request.raw;
      const { raw } = reply.hijack();
      if (socket.destroyed) return; // the client left while this request waited for its turn
      raw.writeHead(200, {
        ...(reply.getHeaders() as NodeJS.Dict<string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      raw.write(': the events of this world\n\n');

      let isOver = false;
      let cancelBeat = (): void => undefined;
      let leave = (): void => undefined;
      const stop = (): void => {
        isOver = true;
        cancelBeat();
        leave();
        socket.off('close', stop);
      };
      // the socket and not the response: one that waits behind another response never hears that its client leaves
      socket.once('close', stop);
      raw.once('error', stop);

      const send = (text: string): void => {
        if (isOver) return;
        if (raw.writableLength <= MAX_BUFFERED_BYTES) {
          raw.write(text);
          unread.wait(raw, raw.writableLength);
          return;
        }
        stop();
        socket.destroy();
      };
      const beat = (): void => {
        cancelBeat = wallClock.alarm(wallClock.nowMs() + HEARTBEAT_MS, beat);
        send(': alive\n\n');
      };
      cancelBeat = wallClock.alarm(wallClock.nowMs() + HEARTBEAT_MS, beat);
      const { 'last-event-id': last } = request.headers;
      leave = events.read(typeof last === 'string' ? last : undefined, {
        take: (event) => send(frame(event)),
        end: () => {
          stop();
          raw.end();
        },
      });
      if (isOver) leave(); // what it had missed was too much for it
    },
  );
};

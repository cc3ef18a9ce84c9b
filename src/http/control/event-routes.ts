import { z } from 'zod';
import { EventsText } from '../../contract/control-answers.ts';
import type { PublishedEvent } from '../../log/event-log.ts';
import { operation } from '../route-schemas.ts';
import type { ControlRoutes } from './control-options.ts';

const LastEventId = z.object({
  'Last-Event-ID': z.string().optional().meta({ description: 'The id of the last event that a reader has' }),
});

/** A reader this far behind is disconnected, and resumes after the last event that it has. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
/** How often a stream shows that it is alive, so that neither a proxy nor a reader gives it up. */
const HEARTBEAT_MS = 15_000;

const frame = ({ id, type, data }: PublishedEvent): string => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;

/** What happens in a world, live, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const eventRoutes: ControlRoutes = async (app, { wallClock, unread }) => {
  /** The text of the latest event, written once for all its readers. */
  let latest: { readonly event: PublishedEvent; readonly text: string } | undefined;
  const textOf = (event: PublishedEvent): string => {
    if (latest?.event !== event) latest = { event, text: frame(event) };
    return latest.text;
  };

  app.get(
    '/events',
    operation('Journal', 'readEvents', 'What happens in this world, live', EventsText, {
      errors: ['TOO_MANY_READERS'],
      requestHeaders: LastEventId,
      responseType: 'text/event-stream',
    }),
    async (request, reply) => {
      const { world, headers } = request;
      const { socket } = request.raw;
      if (socket.destroyed) return void reply.hijack(); // the client left while this request waited for its turn
      const { raw } = reply;
      // one write for all events of one command: a write each for 2,000 events and 32 readers would take most of a second
      let pending = '';
      let isOver = false;
      let cancelBeat = (): void => undefined;
      let leave = (): void => undefined;
      const stop = (): void => {
        isOver = true;
        cancelBeat();
        leave();
        socket.off('close', stop);
      };
      const flush = (): void => {
        if (isOver || pending === '' || !raw.headersSent) return; // the events that the reader missed wait for the head
        if (raw.writableLength <= MAX_BUFFERED_BYTES) {
          raw.write(pending);
          pending = '';
          unread.wait(raw, raw.writableLength);
          return;
        }
        stop();
        socket.destroy();
      };
      const send = (text: string): void => {
        if (pending === '') void Promise.resolve().then(flush);
        pending += text;
      };
      const { 'last-event-id': last } = headers;
      leave = await world.watch(typeof last === 'string' ? last : undefined, {
        take: (event) => send(textOf(event)),
        end: () => {
          flush();
          stop();
          if (raw.headersSent) raw.end(); // otherwise it ends below, after its head
        },
      });
      if (socket.destroyed) {
        leave();
        return void reply.hijack();
      }
      // on the socket, since a response that waits behind another never learns that its client has left
      socket.once('close', stop);
      raw.once('error', stop);

      void reply.hijack();
      raw.writeHead(200, {
        ...(reply.getHeaders() as NodeJS.Dict<string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'x-accel-buffering': 'no',
      });
      raw.write(': the events of this world\n\n');
      flush();
      if (isOver) return void raw.end();
      const beat = (): void => {
        cancelBeat = wallClock.schedule(wallClock.nowMs() + HEARTBEAT_MS, beat);
        send(': alive\n\n');
      };
      cancelBeat = wallClock.schedule(wallClock.nowMs() + HEARTBEAT_MS, beat);
    },
  );
};

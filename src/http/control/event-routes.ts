import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { PublishedEvent } from '../../worlds/world-connections.ts';
import { operation, type ControlRoutes } from '../routes.ts';

const LastEventId = z.object({
  'Last-Event-ID': z.string().optional().meta({ description: 'The id of the last event that a reader has' }),
});

/** How much text is gathered before it is written: that of some dozen events. */
const MAX_GATHERED = 64 * 1024;
/** How often a stream shows that it is alive, so that neither a proxy nor a reader gives it up. */
const HEARTBEAT_MS = 15_000;

const frame = ({ id, type, data }: PublishedEvent): string => `id: ${id}\nevent: ${type}\ndata: ${data}\n\n`;

/** Resolves once everything that was written has been sent, or nobody reads it any more. */
const drained = (raw: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      raw.off('drain', done).off('close', done);
      resolve();
    };
    raw.once('drain', done).once('close', done);
  });

/** What happens in a world, live, as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const eventRoutes: ControlRoutes = async (app, { wallClock, heavy }) => {
  /** The text of the latest event, written once for all its readers. */
  let latest: { readonly event: PublishedEvent; readonly text: string } | undefined;
  const textOf = (event: PublishedEvent): string => {
    if (latest?.event !== event) latest = { event, text: frame(event) };
    return latest.text;
  };

  app.get(
    '/events',
    {
      exposeHeadRoute: false, // a stream has no end whose headers could be sent
      ...operation('Journal', 'readEvents', 'What happens in this world, live', {
        errors: ['TOO_MANY_READERS'],
        requestHeaders: LastEventId,
        responseHeaders: ['Last-Event-ID'],
        responseType: 'text/event-stream',
      }),
    },
    async ({ headers: { 'last-event-id': last }, exchange: { world }, raw: { socket } }, reply) => {
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
        if (isOver || pending === '') return;
        raw.write(pending);
        pending = '';
      };
      const send = (text: string): void => {
        if (pending === '') void Promise.resolve().then(flush);
        pending += text;
        if (pending.length > MAX_GATHERED) flush();
      };
      const begin = (end: () => void, from?: string): void => {
        leave = end;
        void reply.hijack();
        if (socket.destroyed) return stop();
        socket.once('close', stop);
        raw.once('error', stop);
        heavy.endUnread(raw);
        raw.writeHead(200, {
          ...(reply.getHeaders() as NodeJS.Dict<string>),
          'content-type': 'text/event-stream; charset=utf-8',
          'x-accel-buffering': 'no',
          ...(from !== undefined && { 'last-event-id': from }),
        });
        raw.write(': the events of this world\n\n');
        if (from !== undefined) raw.write(`id: ${from}\n\n`); // an EventSource takes it from here
        const beat = (): void => {
          cancelBeat = wallClock.schedule(wallClock.nowMs() + HEARTBEAT_MS, beat);
          send(': alive\n\n');
        };
        cancelBeat = wallClock.schedule(wallClock.nowMs() + HEARTBEAT_MS, beat);
      };
      await world.watch(typeof last === 'string' ? last : undefined, {
        begin,
        take: (event) => send(textOf(event)),
        ready: () => (isOver || !raw.writableNeedDrain ? undefined : drained(raw)),
        end: () => {
          flush();
          stop();
          if (raw.writableNeedDrain) socket.destroy();
          else raw.end();
        },
      });
    },
  );
};

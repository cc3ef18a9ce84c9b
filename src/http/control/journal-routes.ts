import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { RequestsQuery, VerifyRequest } from '../../contract/control.ts';
import { invalidRequest, type FieldError } from '../../contract/errors.ts';
import { JSON_TYPE } from '../../contract/service.ts';
import { inWords, type Path } from '../../contract/shape-issues.ts';
import { listText } from './world-responses.ts';
import { operation, type ControlRoutes } from '../routes.ts';
import { journalEntry, seenStatus } from '../../world/journal/journal-entry.ts';
import { journalText } from '../../world/journal/journal-text.ts';
import type { KeptRequest } from '../../world/journal/kept-request.ts';
import { verify } from '../../world/journal/verification.ts';
import type { WorldState } from '../../world/state-shape.ts';
import type { PublishedEvent } from '../../worlds/world-connections.ts';

const TEXT_TYPE = 'text/plain; charset=utf-8';

/** What is made of each item, once it is read. */
function* each<T, Made>(items: Iterable<T>, make: (item: T) => Made): Generator<Made> {
  for (const item of items) yield make(item);
}

const isWanted =
  ({ route, status, client_ref_id, txn_id, since }: z.output<typeof RequestsQuery>) =>
  (exchange: KeptRequest): boolean =>
    (route === undefined || exchange.route === route) &&
    (status === undefined || seenStatus(exchange) === status) &&
    (client_ref_id === undefined || exchange.clientRefId === client_ref_id) &&
    (txn_id === undefined || exchange.txnId === txn_id) &&
    (since === undefined || (typeof since === 'number' ? exchange.nth > since : exchange.atMs >= since.atMs));

const requestsOf = ({ requests: { list, evicted } }: Readonly<WorldState>) => ({
  list: list.slice(),
  evicted,
});

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

/** The journal: the requests to a world, its responses, and what decided them; and what happens in the world, live. */
export const journalRoutes: ControlRoutes = async (app, { wallClock, heavy }) => {
  app.get(
    '/requests',
    operation('Journal', 'listRequests', 'The requests to this world', { querystring: RequestsQuery }),
    async ({ query, exchange: { world } }, reply) => {
      const { order, limit, format } = query;
      const isText = format === 'text';
      return heavy.send(reply.type(isText ? TEXT_TYPE : JSON_TYPE), world, async () => {
        const { list, evicted } = await world.read(requestsOf);
        const wanted = list.filter(isWanted(query));
        const isOldest = order === 'oldest';
        const chosen = isOldest ? wanted.slice(0, limit) : wanted.slice(-limit);
        const shown = isOldest || isText ? chosen : chosen.toReversed();
        // made as they are read: a list that nobody reads only keeps its requests alive
        const entries = each(shown, journalEntry);
        const left_out = list.length - chosen.length;
        if (isText) return journalText(entries, { evicted, left_out });
        return listText(
          { requests: [], evicted, left_out },
          each(entries, (entry) => JSON.stringify(entry)),
        );
      });
    },
  );

  app.delete(
    '/requests',
    operation('Journal', 'clearRequests', 'Clear the journal'),
    async ({ exchange: { world } }) => ({
      cleared: await world.submit({ kind: 'forget', as: 'cleared' }),
    }),
  );

  app.post(
    '/requests/verify',
    operation('Journal', 'verifyRequests', 'Check the requests to this world', {
      description: 'Counts requests that match, or looks for a sequence of them; shows the closest misses.',
      body: VerifyRequest,
    }),
    async ({ body, exchange: { world } }) => {
      const errors: FieldError[] = [];
      const report = (path: Path, message: string): void => void errors.push(inWords(path, message));
      const answer = await heavy.run(world, async () => {
        const { list, evicted } = await world.read(requestsOf);
        return verify(list, evicted, body, report);
      });
      if (errors.length > 0) throw invalidRequest(errors);
      return answer;
    },
  );

  /** The text of the latest event, written once for all its readers. */
  let latest: { readonly event: PublishedEvent; readonly text: string } | undefined;
  const textOf = (event: PublishedEvent): string => {
    if (latest?.event !== event) latest = { event, text: frame(event) };
    return latest.text;
  };

  /** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
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

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Refusal } from '../../contract/errors.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';
import { tcpSocketOf } from '../server-options.ts';
import { bodyTooLarge, MAX_BODY_BYTES, type BodyReader } from '../json-bodies.ts';

/** What the owner of a request says of it. */
interface Asked {
  readonly response: ServerResponse;
  /** The world that it is for; undefined before that is known. */
  readonly worldId: () => string | undefined;
  /** Called when its response or its connection has closed. @param limit the limit that ended its connection, if one did */
  readonly over: (limit: string | undefined) => void;
}

interface Connection {
  /** The requests that are not over, the oldest first: that one is under way, the others wait. */
  readonly requests: (Asked & { handle?: () => void })[];
  /** The world of its latest request that is over. */
  worldId?: string | undefined;
  /** When that was over, or it was opened, by their order. */
  usedAt: number;
}

interface ConnectionsOptions {
  readonly max: number;
  readonly wallClock: WallClock;
  /** Elapsed time, ms. */
  readonly stopwatchMs: () => number;
  /** A limit has ended a connection. */
  readonly ended: (limit: string) => void;
}

/** How many requests may wait for the response before them, on one connection and on all together. */
const MOST_WAITING = 100;
const MOST_WAITING_IN_ALL = 2000;
const MAX_CONNECTIONS = 'SANDBOX_MAX_CONNECTIONS';
const AHEAD = 'requests ahead of their responses';

/** What a connection has unread that is not ended for it. */
const LONG_BYTES = 64 * 1024;

/** How long requests are handled until sockets and timers have their turn, ms. */
const SLICE_MS = 10;

const worldOf = ({ requests, worldId }: Connection): string | undefined => requests[0]?.worldId() ?? worldId;

/** Whether nothing is under way on it: of a request that has not come whole, nothing was done. */
const isIdle = ({ requests }: Connection): boolean =>
  requests.every(({ response }) => !response.req.complete && !response.headersSent);

/**
 * The connections of a server. Node.js hands out at once all requests that a client sends ahead, so that they keep others waiting and
 * may overtake each other. Here one request of a connection is handled at a time, and connections take turns. A connection is never
 * paused, since that would hide that its client leaves; one with too many requests is ended.
 *
 * Node's `maxConnections` refuses the newest connection. Here one that is idle makes room for it, of the world that has the most: so
 * neither idle connections nor those of one client keep others out. Only where none is idle, the newest is refused.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  #uses = 0;
  readonly options: ConnectionsOptions;
  /** The oldest requests of connections, which wait for their turn. They are handled even if their clients have left since they sent them. */
  readonly #turns: Connection['requests'] = [];
  /** How many requests are not over. */
  #requests = 0;

  constructor(options: ConnectionsOptions) {
    this.options = options;
  }

  watch(server: Server): void {
    server.on('connection', (socket) => {
      const isFull = this.#open.size >= this.options.max && !this.#endExpendable();
      this.#opened(socket);
      if (isFull) this.end(socket, MAX_CONNECTIONS);
    });
    server.on('secureConnection', (socket: Socket) => {
      this.#open.delete(tcpSocketOf(socket)); // from here on, the connection is that of TLS
      this.#opened(socket);
    });
  }

  #opened(socket: Socket): Connection {
    const connection: Connection = { requests: [], usedAt: (this.#uses += 1) };
    this.#open.set(socket, connection);
    socket.on('error', () => undefined); // Node removes its listener at a CONNECT, and an unhandled error ends the process
    socket.once('close', () => this.#closed(socket, undefined));
    return connection;
  }

  /** A request has begun. */
  began(asked: Asked): void {
    const { socket } = asked.response.req;
    if (socket.destroyed) return;
    const connection = this.#open.get(socket) ?? this.#opened(socket);
    asked.response.once('close', () => this.#over(socket, asked));
    this.#requests += 1;
    if (connection.requests.push(asked) > MOST_WAITING + 1) this.end(socket, AHEAD);
    else if (this.#requests > MOST_WAITING_IN_ALL + this.#open.size)
      this.#endMost(({ requests }) => requests.length, AHEAD);
  }

  /** Handles a request that has begun when its turn has come; not at all if its connection closes while it waits for others. */
  inTurn({ req: { socket } }: ServerResponse, handle: () => void): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.requests.at(-1)!.handle = handle;
    if (connection.requests.length === 1) this.#takeTurn(connection);
  }

  /** The latest unfinished response on a connection whose request came whole, or of which some was sent. */
  owedResponse(socket: Socket): ServerResponse | undefined {
    const requests = this.#open.get(socket)?.requests ?? [];
    return requests.findLast(({ response }) => response.req.complete || response.headersSent)?.response;
  }

  /** Ends a connection by a limit. */
  end(socket: Socket, limit: string): void {
    if (!this.#open.has(socket)) return;
    socket.destroy();
    this.#closed(socket, limit);
    this.options.ended(limit);
  }

  /** Ends the connection with the most that its client has not read. @returns whether one has much */
  endLargest(): boolean {
    const unread = (_: Connection, { writableLength }: Socket) =>
      writableLength < LONG_BYTES ? 0 : writableLength;
    return this.#endMost(unread, 'unread responses');
  }

  /** Ends one that is idle, of the world that has the most connections. @returns whether there was one */
  #endExpendable(): boolean {
    const counts = new Map<string | undefined, number>(); // those without a world count as of one
    for (const connection of this.#open.values()) {
      const worldId = worldOf(connection);
      counts.set(worldId, (counts.get(worldId) ?? 0) + 1);
    }
    return this.#endMost((one) => (isIdle(one) ? counts.get(worldOf(one))! : 0), MAX_CONNECTIONS);
  }

  /** Ends the connection that has the most of something; of several, the one idle longest. @returns whether one has any */
  #endMost(amount: (connection: Connection, socket: Socket) => number, limit: string): boolean {
    let [most, usedAt] = [0, Infinity];
    let found: Socket | undefined;
    for (const [socket, connection] of this.#open) {
      const has = amount(connection, socket);
      const isIt = has > most || (has === most && has > 0 && connection.usedAt < usedAt);
      if (isIt) [most, usedAt, found] = [has, connection.usedAt, socket];
    }
    if (found !== undefined) this.end(found, limit);
    return found !== undefined;
  }

  #closed(socket: Socket, limit: string | undefined): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return; // a limit has ended it
    this.#open.delete(socket);
    const requests = connection.requests.splice(0);
    this.#requests -= requests.length;
    for (const { over } of requests) over(limit);
  }

  #over(socket: Socket, asked: Asked): void {
    const connection = this.#open.get(socket);
    const index = connection?.requests.indexOf(asked) ?? -1;
    if (connection === undefined || index === -1) return; // its connection has closed
    connection.requests.splice(index, 1);
    this.#requests -= 1;
    connection.usedAt = this.#uses += 1;
    connection.worldId = asked.worldId() ?? connection.worldId;
    asked.over(undefined);
    if (index === 0 && connection.requests.length > 0) this.#takeTurn(connection);
  }

  #takeTurn(connection: Connection): void {
    if (this.#turns.push(connection.requests[0]!) === 1) this.options.wallClock.nextTurn(this.#takeTurns);
  }

  readonly #takeTurns = (): void => {
    const { stopwatchMs, wallClock } = this.options;
    const endMs = stopwatchMs() + SLICE_MS;
    const handleNext = (): void => {
      this.#turns[0]!.handle?.();
      this.#turns.shift();
      if (this.#turns.length === 0) return;
      if (stopwatchMs() >= endMs) wallClock.nextTurn(this.#takeTurns);
      else void Promise.resolve().then(() => process.nextTick(handleNext)); // once all that it can do now has been done
    };
    handleNext();
  };
}

/** Collects a body: its first chunk, as most have no other, then one buffer, since an object for each chunk of a byte would take far more. */
function collectBody({ headers, raw }: FastifyRequest, bodyLimit: number): BodyReader {
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
function takeBody(request: FastifyRequest): void {
  const { raw, exchange, method } = request;
  if (method === 'GET' || method === 'HEAD') return void raw.resume(); // nothing reads its body
  const { bodyLimit } = request.routeOptions;
  if (bodyLimit <= MAX_BODY_BYTES) exchange.body = collectBody(request, bodyLimit); // a longer one is read as it comes
}

/**
 * Works by turns of the event loop: all requests that have arrived are read, then they are handled, then their responses are written.
 * Otherwise each request would be handled between a read and a write of a socket. Those are system calls, which leave the processor's
 * caches cold: at 32 connections, a request would take up to twice as much processor time.
 */
export const turns = fp<Pick<ConnectionsOptions, 'wallClock'> & { readonly connections: Connections }>(
  async (app, { wallClock, connections }) => {
    app.addHook('onRequest', (request, reply, done) => {
      takeBody(request);
      connections.inTurn(reply.raw, done);
    });

    /** The responses that wait to be written. */
    const handled: (() => void)[] = [];
    const writeAll = (): void => {
      for (const write of handled.splice(0)) write();
    };
    app.addHook('onSend', ({ exchange }, _reply, payload, done) => {
      if (exchange.route === undefined) return done(null, payload); // not of the payout service
      const write = (): void => {
        try {
          done(null, payload);
        } catch (error) {
          done(error as Error); // as Fastify does with an error of a hook
        }
      };
      if (handled.push(write) === 1) wallClock.nextTurn(writeAll);
    });
  },
);

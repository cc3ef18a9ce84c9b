import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  askWhetherLeft,
  greediest,
  mostExpendable,
  type Asked,
  type Connection,
  type Exchange,
} from './ended-connections.ts';

/**
 * Bounds the connections of a server, and the requests that clients pipeline on them. Unlike `server.maxConnections`, which
 * refuses the newest, one connection too many ends one of the world that has the most: the one on which no request has begun or
 * ended for longest. So neither idle connections nor those of one client keep others out. One pipelined request too many ends
 * the connection with the most of them; pausing that connection instead would hide that its client leaves.
 */
export class Connections {
  readonly #open = new Map<Socket, Connection>();
  readonly #max: number;
  readonly #maxAhead: number;
  readonly #ended: (limit: string) => void;
  #ahead = 0;
  #touches = 0;

  /** @param maxAhead the most requests under way on all connections together, not counting the first of each */
  constructor(max: number, maxAhead: number, ended: (limit: string) => void) {
    this.#max = max;
    this.#maxAhead = maxAhead;
    this.#ended = ended;
  }

  watch(server: Server): void {
    Object.assign(server, { httpAllowHalfOpen: true }); // else Node.js drops the responses to a client that has finished sending
    server.on('connection', (socket) => {
      if (this.#open.size >= this.#max) this.end(mostExpendable(this.#open), 'SANDBOX_MAX_CONNECTIONS');
      const connection: Connection = { exchanges: [], touched: 0 };
      this.#open.set(socket, connection);
      this.#touch(connection);
      socket.once('end', () =>
        askWhetherLeft(
          socket,
          connection.exchanges.map(({ response }) => response),
        ),
      );
      socket.on('error', () => undefined); // Node removes its listener at a CONNECT, and an unhandled error ends the process
      socket.once('close', () => {
        // a response that waits behind another one never emits `close` when its connection breaks
        for (let first; (first = connection.exchanges[0]) !== undefined;) this.#over(connection, first);
        this.#open.delete(socket);
      });
    });
  }

  /** Counts a request that has begun. */
  began(response: ServerResponse, asked: Asked): void {
    const { socket } = response.req;
    const connection = this.#open.get(socket);
    if (connection === undefined) return; // its connection has ended
    const exchange: Exchange = { response, worldId: asked.worldId, over: asked.over };
    this.#touch(connection);
    response.once('close', () => this.#over(connection, exchange));
    if (connection.exchanges.push(exchange) === 1) return;
    this.#ahead += 1;
    if (this.#ahead > this.#maxAhead) this.end(greediest(this.#open), 'requests ahead of their responses');
  }

  /** Whether this connection has closed, or a limit has ended it: requests that wait on it are then not carried out. */
  isEnded(socket: Socket): boolean {
    return socket.destroyed && !this.#open.has(socket);
  }

  /** The latest unfinished response on a connection whose request came whole, or of which some was sent. */
  owedResponse(socket: Socket): ServerResponse | undefined {
    const exchanges = this.#open.get(socket)?.exchanges ?? [];
    return exchanges.findLast(({ response }) => response.req.complete || response.headersSent)?.response;
  }

  #over(connection: Connection, exchange: Exchange): void {
    const { exchanges } = connection;
    const index = exchanges.indexOf(exchange); // most responses end in the order of their requests
    if (index === -1) return;
    exchanges.splice(index, 1);
    if (exchanges.length > 0) this.#ahead -= 1;
    this.#touch(connection);
    connection.worldId = exchange.worldId() ?? connection.worldId;
    exchange.over(connection.endedBy);
  }

  #touch(connection: Connection): void {
    this.#touches += 1;
    connection.touched = this.#touches;
  }

  /** Ends a connection by a limit. Its requests count until it has closed, in the next turn: they take memory until then. */
  end(socket: Socket, limit: string): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.endedBy = limit;
    this.#open.delete(socket);
    socket.destroy();
    this.#ended(limit);
  }
}

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What the owner of a request says of it. */
interface Asked {
  /** The world that it is for; undefined before that is known. */
  readonly worldId: () => string | undefined;
  /** Called when its response or its connection has closed. @param limit the limit that ended its connection, if one did */
  readonly over: (limit: string | undefined) => void;
}

/** An exchange that is not over. */
interface Exchange extends Asked {
  readonly response: ServerResponse;
}

interface Connection {
  /** The exchanges that are not over, the oldest first. */
  readonly exchanges: Exchange[];
  /** Increases over all connections: the one with the lowest was idle longest. */
  touched: number;
  /** The world of its latest request that is over. */
  worldId?: string | undefined;
  /** The limit that has ended it. */
  endedBy?: string;
}

const worldIdOf = ({ exchanges, worldId }: Connection): string | undefined =>
  exchanges.findLast((exchange) => exchange.worldId() !== undefined)?.worldId() ?? worldId;

/** When a client that has finished sending is asked whether it is still there: two times soon, since the first only makes it object. */
const ASK_SOON_MS = 10;
const ASK_EVERY_MS = 100;

/**
 * A client that has finished sending either waits for its responses, or has left. Interim responses, which a client of HTTP/1.1 skips,
 * find that out: they break the connection of one that has left.
 */
function askWhetherLeft(socket: Socket, { exchanges }: Connection): void {
  for (const { response } of exchanges) {
    if (response.req.httpVersion !== '1.1') return socket.destroySoon();
    let asked = 0;
    response.setTimeout(ASK_SOON_MS, () => {
      if (!response.headersSent) response.writeProcessing();
      asked += 1;
      response.setTimeout(asked < 2 ? ASK_SOON_MS : ASK_EVERY_MS);
    });
  }
}

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
      if (this.#open.size >= this.#max) this.end(this.#mostExpendable(), 'SANDBOX_MAX_CONNECTIONS');
      const connection: Connection = { exchanges: [], touched: 0 };
      this.#open.set(socket, connection);
      this.#touch(connection);
      socket.once('end', () => askWhetherLeft(socket, connection));
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
    if (this.#ahead > this.#maxAhead) this.end(this.#greediest(), 'requests ahead of their responses');
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

  /** Of the world with the most connections, the one that was idle longest; those without a world count as of one. */
  #mostExpendable(): Socket {
    const open = [...this.#open].map(([socket, connection]) => ({
      socket,
      connection,
      worldId: worldIdOf(connection),
    }));
    const counts = new Map<string | undefined, number>();
    for (const { worldId } of open) counts.set(worldId, (counts.get(worldId) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return open
      .filter(({ worldId }) => counts.get(worldId) === most)
      .reduce((a, b) => (b.connection.touched < a.connection.touched ? b : a)).socket;
  }

  #greediest(): Socket {
    return [...this.#open].reduce((a, b) => (b[1].exchanges.length > a[1].exchanges.length ? b : a))[0];
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

import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The exchanges of a connection that are not over: each response, with what to call when it is. */
type Exchanges = Map<ServerResponse, () => void>;

/** How often a client that has finished sending is asked whether it is still there. */
const ASK_EVERY_MS = 100;

/**
 * A client that has finished sending either waits for its responses, or has left. Interim responses, which a client of HTTP/1.1 skips,
 * find that out: they break the connection of one that has left.
 */
function askWhetherLeft(socket: Socket, exchanges: Exchanges): void {
  for (const response of exchanges.keys()) {
    if (response.req.httpVersion !== '1.1') return socket.destroySoon();
    response.setTimeout(ASK_EVERY_MS, () => {
      if (!response.headersSent) response.writeProcessing();
    });
  }
}

/**
 * Bounds the connections of a server, and the requests that clients pipeline on them. Unlike `server.maxConnections`, which
 * refuses the newest, one connection too many ends the one on which no request has begun or ended for longest: idle
 * connections cannot keep others out. One pipelined request too many ends the connection with the most of them; pausing that
 * connection instead would hide that its client leaves.
 */
export class Connections {
  /** The connection that was idle longest comes first. */
  readonly #open = new Map<Socket, Exchanges>();
  readonly #max: number;
  readonly #maxAhead: number;
  readonly #ended: (limit: string) => void;
  #ahead = 0;

  /** @param maxAhead the most requests under way on all connections together, not counting the first of each */
  constructor(max: number, maxAhead: number, ended: (limit: string) => void) {
    this.#max = max;
    this.#maxAhead = maxAhead;
    this.#ended = ended;
  }

  watch(server: Server): void {
    Object.assign(server, { httpAllowHalfOpen: true }); // else Node.js drops the responses to a client that has finished sending
    server.on('connection', (socket) => {
      const [quietest] = this.#open.keys();
      if (this.#open.size >= this.#max && quietest !== undefined)
        this.#end(quietest, 'SANDBOX_MAX_CONNECTIONS');
      const exchanges: Exchanges = new Map();
      this.#open.set(socket, exchanges);
      socket.once('end', () => askWhetherLeft(socket, exchanges));
      socket.on('error', () => undefined); // Node removes its listener at a CONNECT, and an unhandled error ends the process
      socket.once('close', () => {
        // a response that waits behind another one never emits `close` when its connection breaks
        for (const response of exchanges.keys()) this.#over(socket, exchanges, response);
        this.#open.delete(socket);
      });
    });
  }

  /** Counts a request that has begun, and calls `over` when its response or its connection has closed. */
  began(response: ServerResponse, over: () => void): void {
    const { socket } = response.req;
    const exchanges = this.#open.get(socket);
    if (exchanges === undefined) return; // its connection has ended
    exchanges.set(response, over);
    if (exchanges.size > 1) this.#ahead += 1;
    this.#touch(socket, exchanges);
    response.once('close', () => this.#over(socket, exchanges, response));
    if (this.#ahead > this.#maxAhead) this.#end(this.#greediest(), 'requests ahead of their responses');
  }

  /** The latest unfinished response on a connection whose request came whole, or of which some was sent. */
  owedResponse(socket: Socket): ServerResponse | undefined {
    const responses = [...(this.#open.get(socket)?.keys() ?? [])];
    return responses.findLast(({ req, headersSent }) => req.complete || headersSent);
  }

  #over(socket: Socket, exchanges: Exchanges, response: ServerResponse): void {
    const over = exchanges.get(response);
    if (over === undefined) return;
    exchanges.delete(response);
    if (this.#open.has(socket)) {
      if (exchanges.size > 0) this.#ahead -= 1;
      this.#touch(socket, exchanges);
    }
    over();
  }

  #touch(socket: Socket, exchanges: Exchanges): void {
    this.#open.delete(socket);
    this.#open.set(socket, exchanges);
  }

  #greediest(): Socket {
    return [...this.#open].reduce((a, b) => (b[1].size > a[1].size ? b : a))[0];
  }

  #end(socket: Socket, limit: string): void {
    this.#ahead -= Math.max(this.#open.get(socket)!.size - 1, 0);
    this.#open.delete(socket);
    socket.destroy();
    this.#ended(limit);
  }
}

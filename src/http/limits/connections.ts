import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Bounds the connections of a server, and the requests that clients pipeline on them. Unlike `server.maxConnections`, which
 * refuses the newcomer, one connection too many ends the one on which no request has begun or ended for longest: idle
 * connections cannot keep others out. One pipelined request too many ends the connection with the most of them; pausing that
 * connection instead would hide that its client leaves.
 */
export class Connections {
  /** Requests under way on each connection. The one on which nothing happened for longest comes first. */
  readonly #underWay = new Map<Socket, number>();
  readonly #max: number;
  readonly #maxAhead: number;
  readonly #ended: (limit: string) => void;
  #ahead = 0;

  /**
   * @param max the most connections
   * @param maxAhead the most requests under way on all connections together, not counting the first of each
   * @param ended called with the limit, for each connection that is ended
   */
  constructor(max: number, maxAhead: number, ended: (limit: string) => void) {
    this.#max = max;
    this.#maxAhead = maxAhead;
    this.#ended = ended;
  }

  /** Counts the connections that a server accepts from now on. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      if (this.#underWay.size >= this.#max) this.#end(this.#quietest(), 'SANDBOX_MAX_CONNECTIONS');
      this.#underWay.set(socket, 0);
      socket.once('close', () => this.#forget(socket));
    });
  }

  /** Counts a request that has begun. */
  began(socket: Socket): void {
    const before = this.#underWay.get(socket);
    if (before === undefined) return; // its connection has ended
    this.#move(socket, before + 1);
    if (before > 0) this.#ahead += 1;
    if (this.#ahead > this.#maxAhead) this.#end(this.#greediest(), 'requests ahead of their answers');
  }

  /** Counts a request whose exchange is over. */
  ended(socket: Socket): void {
    const before = this.#underWay.get(socket);
    if (before === undefined) return;
    this.#move(socket, before - 1);
    if (before > 1) this.#ahead -= 1;
  }

  #move(socket: Socket, underWay: number): void {
    this.#underWay.delete(socket);
    this.#underWay.set(socket, underWay);
  }

  #quietest(): Socket | undefined {
    for (const socket of this.#underWay.keys()) return socket;
    return undefined;
  }

  #greediest(): Socket | undefined {
    let greediest: Socket | undefined;
    let most = 0;
    for (const [socket, underWay] of this.#underWay) {
      if (underWay <= most) continue;
      greediest = socket;
      most = underWay;
    }
    return greediest;
  }

  #end(socket: Socket | undefined, limit: string): void {
    if (socket === undefined) return;
    this.#forget(socket);
    socket.destroy();
    this.#ended(limit);
  }

  #forget(socket: Socket): void {
    this.#ahead -= Math.max((this.#underWay.get(socket) ?? 0) - 1, 0);
    this.#underWay.delete(socket);
  }
}

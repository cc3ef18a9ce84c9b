import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a sandbox. One more than there may be ends the one that was idle longest, or where all are busy, the one
 * whose request is oldest: whoever comes is served. Requests that are sent ahead of the answers before them are bounded too:
 * past that, the connection with the most of them ends.
 */
export class Connections {
  /** Those without a request under way, the idlest first. */
  readonly #idle = new Set<Socket>();
  /** How many requests are under way on each of the others, the longest busy first. */
  readonly #busy = new Map<Socket, number>();
  readonly #max: number;
  readonly #maxAhead: number;
  #ahead = 0;

  /**
   * @param max how many connections there may be
   * @param maxAhead how many requests may be under way on all of them, beside the first of each
   */
  constructor(max: number, maxAhead: number) {
    this.#max = max;
    this.#maxAhead = maxAhead;
  }

  get size(): number {
    return this.#idle.size + this.#busy.size;
  }

  /** Counts the connections of a server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      if (this.size >= this.#max) this.#end(this.#longest());
      this.#idle.add(socket);
      socket.once('close', () => this.#forget(socket));
    });
  }

  /** A request has come. */
  began(socket: Socket): void {
    const underWay = this.#busy.get(socket);
    if (underWay === undefined) {
      if (this.#idle.delete(socket)) this.#busy.set(socket, 1);
      return;
    }
    this.#busy.set(socket, underWay + 1);
    this.#ahead += 1;
    if (this.#ahead > this.#maxAhead) this.#end(this.#greediest());
  }

  /** Its exchange is over. */
  ended(socket: Socket): void {
    const underWay = this.#busy.get(socket);
    if (underWay === undefined) return; // the connection has ended before it
    if (underWay > 1) {
      this.#busy.set(socket, underWay - 1);
      this.#ahead -= 1;
      return;
    }
    this.#busy.delete(socket);
    this.#idle.add(socket);
  }

  #longest(): Socket | undefined {
    for (const socket of this.#idle) return socket;
    for (const socket of this.#busy.keys()) return socket;
    return undefined;
  }

  #greediest(): Socket | undefined {
    let greediest: Socket | undefined;
    let most = 0;
    for (const [socket, underWay] of this.#busy) {
      if (underWay <= most) continue;
      greediest = socket;
      most = underWay;
    }
    return greediest;
  }

  #end(socket: Socket | undefined): void {
    if (socket === undefined) return;
    this.#forget(socket);
    socket.destroy();
  }

  #forget(socket: Socket): void {
    this.#ahead -= Math.max((this.#busy.get(socket) ?? 0) - 1, 0);
    this.#idle.delete(socket);
    this.#busy.delete(socket);
  }
}

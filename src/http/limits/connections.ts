import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The connections of a sandbox. One more than there may be ends the one on which no request has begun or ended for longest:
 * whoever comes is served, and stays for as long as it takes to fill all places anew. Requests that are sent ahead of the
 * answers before them are bounded too: past that, the connection with the most of them ends.
 */
export class Connections {
  /** How many requests are under way on each; that on which nothing happened for longest comes first. */
  readonly #underWay = new Map<Socket, number>();
  readonly #max: number;
  readonly #maxAhead: number;
  readonly #ended: (limit: string) => void;
  #ahead = 0;

  /**
   * @param max how many connections there may be
   * @param maxAhead how many requests may be under way on all of them, beside the first of each
   * @param ended is told of each connection that is ended, and by which limit
   */
  constructor(max: number, maxAhead: number, ended: (limit: string) => void) {
    this.#max = max;
    this.#maxAhead = maxAhead;
    this.#ended = ended;
  }

  /** Counts the connections of a server from now on. */
  watch(server: Server): void {
    server.on('connection', (socket) => {
      if (this.#underWay.size >= this.#max) this.#end(this.#quietest(), 'SANDBOX_MAX_CONNECTIONS');
      this.#underWay.set(socket, 0);
      socket.once('close', () => this.#forget(socket));
    });
  }

  /** A request has come. */
  began(socket: Socket): void {
    const before = this.#underWay.get(socket);
    if (before === undefined) return; // the connection has ended before it
    this.#move(socket, before + 1);
    if (before > 0) this.#ahead += 1;
    if (this.#ahead > this.#maxAhead) this.#end(this.#greediest(), 'requests ahead of their answers');
  }

  /** Its exchange is over. */
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

import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { Mutex, Semaphore } from 'async-mutex';
import type { FastifyReply } from 'fastify';
import type { Steps } from '../../world/steps.ts';
import type { World } from '../../worlds/world.ts';
import type { Connections } from './connections.ts';

/** How many snapshots are sent at once. */
const MOST_SNAPSHOTS = 4;
/** How long work goes on until other requests have their turn, and about how much text is made in that time. */
const SLICE_MS = 10;
const PIECE_CHARACTERS = 64 * 1024;
/** How long a response may wait for its reader. */
const NO_PROGRESS_MS = 10_000;

/** A text, as it is made. */
type Texts = Generator<string> | AsyncGenerator<string>;

/**
 * Snapshots, restores, verdicts, verifications and long lists: one of them works at a time, in slices, so that all of them together
 * keep no other request waiting. As many wait as there are connections; next comes whoever has the fewest ahead of it from its own
 * world, so that the requests of one client keep no other's waiting. The place is held only while the processor works: neither a
 * body that does not come nor a reader that does not read keeps the others out. A response without a reader ends.
 */
export class HeavyWork {
  readonly #connections: Connections;
  readonly #place = new Mutex();
  /** How many wait for the place, by whose work it is. */
  readonly #waiting = new WeakMap<object, number>();
  readonly #snapshots = new Semaphore(MOST_SNAPSHOTS);
  readonly #snapshotOf = new WeakMap<World, Mutex>();
  /** When the present slice ends, in elapsed time. */
  #untilMs = 0;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Runs work whose steps are short. @param owner whose it is: a world, or the worlds of the server @param begin called when its turn has come */
  run<T>(owner: object, begin: () => Steps<T> | Promise<Steps<T>>): Promise<T> {
    return this.#inPlace(owner, async () => {
      const steps = await begin();
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        await this.#turn();
      }
    });
  }

  /** The pieces of a body as they come; the place is held while they are worked on. */
  async *taken<T>(owner: World, pieces: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const piece of pieces) {
      const leave = await this.#enter(owner);
      try {
        yield piece;
      } finally {
        leave();
      }
    }
  }

  /** Sends a text that is made as it is read. @param begin called when its turn has come */
  async send(reply: FastifyReply, owner: object, begin: () => Promise<Texts>): Promise<FastifyReply> {
    const texts = await this.#inPlace(owner, begin);
    if (reply.raw.req.socket.destroyed) return reply.hijack(); // its client has left
    this.endUnread(reply.raw);
    return reply.send(Readable.from(this.#pieces(owner, texts)));
  }

  /** The same for a snapshot of a world, which keeps much in memory: four at once, one of each world, and the others wait. */
  async sendSnapshot(reply: FastifyReply, world: World, begin: () => Promise<Texts>): Promise<FastifyReply> {
    const ofWorld = this.#snapshotOf.get(world) ?? new Mutex();
    this.#snapshotOf.set(world, ofWorld);
    const { socket } = reply.raw.req;
    // resolves when the response has ended, as every promise of a reply
    const sent = async () => (socket.destroyed ? reply.hijack() : this.send(reply, world, begin));
    return ofWorld.runExclusive(() => this.#snapshots.runExclusive(sent));
  }

  /** Ends the connection of a response when its client has read nothing of it for ten seconds, as Node.js notices. */
  endUnread(response: ServerResponse): void {
    const { socket } = response.req;
    response.setTimeout(NO_PROGRESS_MS, () => {
      if (socket.writableLength > 0) this.#connections.end(socket, 'unread responses');
    });
    response.once('finish', () => {
      if (socket.timeout === NO_PROGRESS_MS) socket.setTimeout(0); // a request that was sent ahead may take longer
    });
  }

  /** @returns what gives the place up */
  async #enter(owner: object): Promise<() => void> {
    const ahead = this.#waiting.get(owner) ?? 0;
    this.#waiting.set(owner, ahead + 1);
    const leave = await this.#place.acquire(-ahead);
    this.#waiting.set(owner, this.#waiting.get(owner)! - 1);
    await this.#turn();
    return leave;
  }

  async #inPlace<T>(owner: object, work: () => Promise<T>): Promise<T> {
    const leave = await this.#enter(owner);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Lets other requests have their turn once the slice is over, which also several pieces of work may share. */
  async #turn(): Promise<void> {
    const { stopwatchMs, wallClock } = this.#connections.options;
    if (stopwatchMs() < this.#untilMs) return;
    await wallClock.yieldToEventLoop();
    this.#untilMs = stopwatchMs() + SLICE_MS;
  }

  async *#pieces(owner: object, texts: Texts): AsyncGenerator<string> {
    for (;;) {
      let piece = '';
      const isLast = await this.#inPlace(owner, async () => {
        while (piece.length < PIECE_CHARACTERS) {
          const { done, value } = await texts.next();
          if (done === true) return true;
          piece += value;
        }
        return false;
      });
      yield piece;
      if (isLast) return;
    }
  }
}

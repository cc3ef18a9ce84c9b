import { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { Semaphore } from 'async-mutex';
import type { FastifyReply } from 'fastify';
import { busy } from '../refusals.ts';
import type { Steps } from '../../world/steps.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';

/** How many long responses are sent at once. */
const MOST_STREAMS = 4;
/** How many calls wait for a place. */
const MOST_WAITING = 1000;
/** How many long responses wait, each with the beginning of its text. */
const MOST_STREAMS_WAITING = 20;
/** How long work goes on until other requests have their turn, and about how much text is made in that time. */
const SLICE_MS = 10;
const PIECE_CHARACTERS = 64 * 1024;
/** Up to so many characters, a text is sent whole: only a longer one keeps its reader waiting. */
const WHOLE_CHARACTERS = 512 * 1024;
/** How long a response may wait for its reader. */
const NO_PROGRESS_MS = 10_000;

type Texts = Iterable<string> | AsyncIterable<string>;

interface HeavyWorkOptions {
  readonly wallClock: WallClock;
  /** Elapsed time, ms. */
  readonly stopwatchMs: () => number;
  /** Ends a connection by a limit. */
  readonly end: (socket: Socket, limit: string) => void;
}

export interface SendContext {
  readonly wallClock: WallClock;
  readonly heavy: HeavyWork;
}

/**
 * Snapshots, restores, verdicts, verifications and long lists: one of them works at a time, in slices, so that all of them together
 * keep no other request waiting. A place is held only while the processor works: neither a body that does not come nor a reader that
 * does not read keeps the others out. Four long responses are sent at once, one of each world, and one without a reader ends.
 */
export class HeavyWork {
  readonly #options: HeavyWorkOptions;
  readonly #place = new Semaphore(1);
  readonly #beginnings = new Semaphore(MOST_STREAMS);
  readonly #streams = new Semaphore(MOST_STREAMS);
  readonly #streamOf = new Map<string, Semaphore>();
  #waiting = 0;
  #streamsWaiting = 0;
  /** When the present slice ends, in elapsed time. */
  #untilMs = 0;

  constructor(options: HeavyWorkOptions) {
    this.#options = options;
  }

  /** Runs work whose steps are short. @param begin called when its turn has come @throws Refusal SANDBOX_BUSY */
  run<T>(begin: () => Steps<T> | Promise<Steps<T>>): Promise<T> {
    return this.#queued(this.#place, async () => {
      await this.#turn();
      const steps = await begin();
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        if (this.#isOver) await this.#turn();
      }
    });
  }

  /** The pieces of a body as they come; the place is held while they are worked on. */
  async *taken<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const piece of pieces) {
      const [, leave] = await this.#place.acquire();
      try {
        await this.#turn();
        yield piece;
      } finally {
        leave();
      }
    }
  }

  /**
   * Sends a text that is made as it is read.
   *
   * @param worldId of the world that it is about
   * @param begin called when its turn has come, so that nothing was done when this is refused
   * @throws Refusal SANDBOX_BUSY
   */
  async send(
    reply: FastifyReply,
    worldId: string,
    begin: () => Texts | Promise<Texts>,
  ): Promise<FastifyReply> {
    let first = '';
    const pieces = await this.#queued(this.#beginnings, async () => {
      const all = this.#piecesOf(await begin());
      while (first.length < WHOLE_CHARACTERS) {
        const { done, value } = await all.next();
        if (done === true) return null;
        first += value;
      }
      return all;
    });
    if (pieces === null) return reply.send(Buffer.from(first)); // Fastify would add a charset to the type of a text
    const { method, socket } = reply.request.raw;
    // only what reads: a response to what was done must not say that it was refused
    if (method === 'GET' && this.#streamsWaiting >= MOST_STREAMS_WAITING)
      throw busy('long responses that wait');
    const leave = await this.#streaming(worldId);
    if (socket.destroyed) {
      leave();
      return reply.hijack();
    }
    const stop = this.#watch(socket);
    reply.raw.once('close', () => {
      stop();
      leave();
    });
    return reply.send(Readable.from(startingWith(first, pieces)));
  }

  async *#piecesOf(texts: Texts): AsyncGenerator<string> {
    const all = startingWith('', texts);
    for (;;) {
      const { piece, isLast } = await this.#place.runExclusive(async () => {
        await this.#turn();
        for (let piece = ''; ;) {
          const { done, value } = await all.next();
          piece += value ?? '';
          if (done === true || piece.length >= PIECE_CHARACTERS) return { piece, isLast: done === true };
        }
      });
      yield piece;
      if (isLast) return;
    }
  }

  get #isOver(): boolean {
    return this.#options.stopwatchMs() >= this.#untilMs;
  }

  /** Lets other requests have their turn once the slice is over, which also several pieces of work may share. */
  async #turn(): Promise<void> {
    if (!this.#isOver) return;
    await this.#options.wallClock.yieldToEventLoop();
    this.#untilMs = this.#options.stopwatchMs() + SLICE_MS;
  }

  async #queued<T>(places: Semaphore, work: () => Promise<T>): Promise<T> {
    if (this.#waiting >= MOST_WAITING) throw busy('calls that wait');
    this.#waiting += 1;
    return places.runExclusive(() => {
      this.#waiting -= 1;
      return work();
    });
  }

  async #streaming(worldId: string): Promise<() => void> {
    const ofWorld = this.#streamOf.get(worldId) ?? new Semaphore(1);
    this.#streamOf.set(worldId, ofWorld);
    this.#streamsWaiting += 1;
    const [, leaveWorld] = await ofWorld.acquire();
    const [, leave] = await this.#streams.acquire();
    this.#streamsWaiting -= 1;
    return () => {
      leave();
      leaveWorld();
      if (!ofWorld.isLocked()) this.#streamOf.delete(worldId);
    };
  }

  /** Ends the connection of a response of which nothing was sent for too long. @returns a function that stops that */
  #watch(socket: Socket): () => void {
    const { wallClock, end } = this.#options;
    let cancel = (): void => undefined;
    let seen = -1;
    const look = (): void => {
      const sent = socket.bytesWritten - socket.writableLength;
      if (sent === seen) return end(socket, 'unread responses');
      seen = sent;
      cancel = wallClock.schedule(wallClock.nowMs() + NO_PROGRESS_MS, look);
    };
    look();
    return () => cancel();
  }
}

async function* startingWith(first: string, others: Texts): AsyncGenerator<string> {
  yield first;
  yield* others;
}

/** A JSON object with a long list. @param object with that list empty @param items JSON texts, each of some items */
export async function* listText(object: object, items: Texts): AsyncGenerator<string> {
  const [before, after] = JSON.stringify(object).split('[]');
  yield `${before}[`;
  let separator = '';
  for await (const item of items) {
    yield separator + item;
    separator = ',';
  }
  yield `]${after}`;
}

import { Readable } from 'node:stream';
import type { Socket } from 'node:net';
import { Semaphore } from 'async-mutex';
import type { FastifyReply } from 'fastify';
import { busy } from '../refusals.ts';
import type { WallClock } from '../../worlds/wall-clock.ts';

/** How many long responses are sent at once. */
const MOST_STREAMS = 4;
/** How many calls wait for a place. */
const MOST_WAITING = 100;
/** How long work goes on until other requests have their turn, and about how much text is made in that time. */
const SLICE_MS = 10;
const PIECE_CHARACTERS = 64 * 1024;
/** How long a response may wait for its reader. */
const NO_PROGRESS_MS = 10_000;

type Texts = Iterable<string> | AsyncIterable<string>;
type Leave = () => void;

async function* all(texts: Texts): AsyncGenerator<string> {
  yield* texts;
}

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
  readonly #streams = new Semaphore(MOST_STREAMS);
  readonly #streamOf = new Map<string, Semaphore>();
  #waiting = 0;

  constructor(options: HeavyWorkOptions) {
    this.#options = options;
  }

  /** Runs work whose steps are short. @throws Refusal SANDBOX_BUSY */
  async run<T>(steps: Generator<void, T>): Promise<T> {
    const { stopwatchMs, wallClock } = this.#options;
    const leave = await this.#wait(this.#place);
    try {
      let untilMs = stopwatchMs() + SLICE_MS;
      for (;;) {
        const step = steps.next();
        if (step.done === true) return step.value;
        if (stopwatchMs() < untilMs) continue;
        await wallClock.yieldToEventLoop();
        untilMs = stopwatchMs() + SLICE_MS;
      }
    } finally {
      leave();
    }
  }

  /** The pieces of a body as they come; the place is held while they are worked on. */
  async *taken<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const piece of pieces) {
      const [, leave] = await this.#place.acquire();
      try {
        yield piece;
      } finally {
        leave();
      }
    }
  }

  /** Sends a text that is made as it is read. @param worldId of the world that it is about @throws Refusal SANDBOX_BUSY */
  async send(reply: FastifyReply, texts: Texts, worldId: string): Promise<FastifyReply> {
    const pieces = this.#piecesOf(all(texts));
    const { value: first = '' } = (await pieces.next()) as { value?: string };
    if (first.length < PIECE_CHARACTERS) return reply.send(first);
    const leave = await this.#streaming(worldId);
    const { socket } = reply.request.raw;
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

  async *#piecesOf(texts: AsyncGenerator<string>): AsyncGenerator<string> {
    for (let isDone = false; !isDone;) {
      let piece = '';
      const [, leave] = await this.#place.acquire();
      try {
        while (!isDone && piece.length < PIECE_CHARACTERS) {
          const { done, value } = await texts.next();
          isDone = done === true;
          piece += value ?? '';
        }
      } finally {
        leave();
      }
      if (piece !== '') yield piece;
      await this.#options.wallClock.yieldToEventLoop();
    }
  }

  async #wait(places: Semaphore): Promise<Leave> {
    if (this.#waiting >= MOST_WAITING) throw busy('calls that wait');
    this.#waiting += 1;
    try {
      const [, leave] = await places.acquire();
      return leave;
    } finally {
      this.#waiting -= 1;
    }
  }

  async #streaming(worldId: string): Promise<Leave> {
    const ofWorld = this.#streamOf.get(worldId) ?? new Semaphore(1);
    this.#streamOf.set(worldId, ofWorld);
    const leaveWorld = await this.#wait(ofWorld);
    const leave = await this.#wait(this.#streams).catch((error: unknown) => {
      leaveWorld();
      throw error;
    });
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

async function* startingWith(first: string, others: AsyncGenerator<string>): AsyncGenerator<string> {
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

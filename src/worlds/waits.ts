import type { StateEvent } from '../world/events.ts';
import type { Released } from '../world/request/hold-state.ts';

/** What ends a delayed response: a reset or a restore of its world, or the end of the world or the sandbox. */
type End = (how: 'reset' | 'ended') => void;

/** The delayed responses of one world, as functions that end them. */
export class DelayedResponses {
  readonly #begun: () => void;
  /** Null until the first: most worlds delay no responses. */
  #ends: Set<End> | null = null;
  #isOver = false;

  /** @param begun called when a response begins to wait */
  constructor(begun: () => void) {
    this.#begun = begun;
  }

  /** Registers a delayed response until the returned function is called. @param end called at a release, or at once after `close` */
  hold(end: End): () => void {
    if (this.#isOver) end('ended');
    else {
      this.#begun();
      (this.#ends ??= new Set()).add(end);
    }
    return () => this.#ends?.delete(end);
  }

  get isEmpty(): boolean {
    return this.#ends === null || this.#ends.size === 0;
  }

  release(how: Parameters<End>[0]): void {
    for (const end of this.#ends ?? []) end(how);
    this.#ends?.clear();
  }

  /** Ends all responses, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release('ended');
  }
}

/** How the held requests of one world ended, for the code on this server that waits for them. There are at most a hundred. */
export class Releases {
  /** The requests whose connections this server has, by their ids; null while they wait. */
  readonly #own = new Map<number, Released | 'reset' | null>();
  readonly #waiting = new Set<() => void>();
  /** How many changes of the held requests there were. */
  changes = 0;

  /** @param isOwn whether a command of this server made it happen */
  take(event: Extract<StateEvent, { type: 'held' | 'released' }>, isOwn: boolean): void {
    const { id } = event.request;
    if (event.type === 'held') {
      if (isOwn) this.#own.set(id, null);
    } else if (this.#own.has(id)) this.#own.set(id, event.released);
    this.#changed();
  }

  /** The world was replaced, and no request of before waits any more. */
  reset(): void {
    for (const [id, how] of this.#own) if (how === null) this.#own.set(id, 'reset');
    this.#changed();
  }

  #changed(): void {
    this.changes += 1;
    for (const callback of this.#waiting) callback();
  }

  /** Calls back at changes of the held requests; once and now if there were any since `seen`. @returns a function that ends it */
  follow(seen: number, callback: () => void): () => void {
    if (this.changes > seen) {
      callback();
      return () => undefined;
    }
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /** Calls back once the wait of a request of this server has ended. @returns a function that ends this */
  whenOver(id: number, callback: () => void): () => void {
    const look = (): void => {
      if (this.of(id) !== null) callback();
    };
    look();
    return this.of(id) === null ? this.follow(this.changes, look) : () => undefined;
  }

  /** How the wait of a request of this server ended; null while it waits, and when that is not known. */
  of(id: number): Released | 'reset' | null {
    return this.#own.get(id) ?? null;
  }

  forget(id: number): void {
    this.#own.delete(id);
  }
}

import type { StateEvent } from '../../world/events.ts';
import type { Released } from '../../world/request/hold-state.ts';

/** How the held requests of one world ended, for the code on this server that waits for them. There are at most a hundred. */
export class Releases {
  /** The requests whose connections this server has, by their ids; null while they wait. */
  readonly #own = new Map<number, Released | null>();
  readonly #waiting = new Set<() => void>();
  /** How many changes of the held requests there were. */
  changes = 0;

  /** @param isOwn whether a command of this server made it happen */
  take(event: StateEvent, isOwn: boolean): void {
    if (event.type !== 'held' && event.type !== 'released') return;
    const { id } = event.request;
    if (event.type === 'held') {
      if (isOwn) this.#own.set(id, null);
    } else if (this.#own.has(id)) this.#own.set(id, event.released);
    this.changes += 1;
    for (const callback of this.#waiting) callback();
  }

  /**
   * Calls back at the changes of the held requests.
   *
   * @param seen `changes` before the state was read: called at once, and no more, when there were others since
   * @returns a function that ends it
   */
  follow(seen: number, callback: () => void): () => void {
    if (this.changes > seen) {
      callback();
      return () => undefined;
    }
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  /** How the wait of a request of this server ended; null while it waits, and when that is not known. */
  of(id: number): Released | null {
    return this.#own.get(id) ?? null;
  }

  forget(id: number): void {
    this.#own.delete(id);
  }

  clear(): void {
    this.#own.clear();
  }
}

import type { StateEvent } from '../world/events.ts';
import type { Released } from '../world/request/request-result.ts';

/** How the held requests of one world ended, for the code on this server that waits for them. There are at most a hundred. */
export class Releases {
  /** The requests whose connections this server has, by their ids; null while they wait. */
  readonly #own = new Map<number, Released | null>();
  /** The next change, once somebody waits for it. */
  #changed: Promise<void> | null = null;
  #happen = (): void => undefined;

  /** @param isOwn whether a command of this server made it happen */
  take(event: StateEvent, isOwn: boolean): void {
    if (event.type !== 'held' && event.type !== 'released') return;
    const { id } = event.request;
    if (event.type === 'held') {
      if (isOwn) this.#own.set(id, null);
    } else if (this.#own.has(id)) this.#own.set(id, event.released);
    this.#changed = null;
    this.#happen();
  }

  /** Resolves at the next change of the held requests. Read it before the state, so that no change is missed. */
  get changed(): Promise<void> {
    this.#changed ??= new Promise((resolve) => (this.#happen = resolve));
    return this.#changed;
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

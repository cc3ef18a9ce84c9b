import type { StateEvent } from '../world/events.ts';
import type { Released } from '../world/request/request-result.ts';

/** What became of the held requests of one world, for those on this server who wait for it. */
export class Releases {
  /** The requests whose connections this server has; null while they wait. */
  readonly #own = new Map<number, Released | null>();
  #next = nextChange();

  /** @param isOwn whether a command of this server made it happen */
  take(event: StateEvent, isOwn: boolean): void {
    if (event.type === 'held') {
      if (isOwn) this.#own.set(event.request.id, null);
    } else if (event.type === 'released') {
      const { id } = event.request;
      if (this.#own.has(id)) this.#own.set(id, event.released);
    } else return;
    this.#next.happen();
    this.#next = nextChange();
  }

  /** Resolves at the next change of what is held. Ask for it before you look. */
  get changed(): Promise<void> {
    return this.#next.happened;
  }

  /** How the wait of a request of this server ended; null while it waits, and where that is not known. */
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

function nextChange() {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => (happen = resolve));
  return { happened, happen: () => happen() };
}

import type { StateEvent } from '../world/events.ts';
import type { Released } from '../world/request/request-result.ts';

/** What became of the held requests of one world, for those on this server who wait for it. There are a hundred at the most. */
export class Releases {
  /** The requests whose connections this server has; null while they wait. */
  #own: { readonly id: number; readonly released: Released | null }[] = [];
  /** The next change, once somebody waits for it. */
  #next: { readonly happened: Promise<void>; readonly happen: () => void } | null = null;

  /** @param isOwn whether a command of this server made it happen */
  take(event: StateEvent, isOwn: boolean): void {
    if (event.type === 'held') {
      if (isOwn) this.#own.push({ id: event.request.id, released: null });
    } else if (event.type === 'released') {
      const { id } = event.request;
      this.#own = this.#own.map((one) => (one.id === id ? { id, released: event.released } : one));
    } else return;
    this.#next?.happen();
    this.#next = null;
  }

  /** Resolves at the next change of what is held. Ask for it before you look. */
  get changed(): Promise<void> {
    this.#next ??= nextChange();
    return this.#next.happened;
  }

  /** How the wait of a request of this server ended; null while it waits, and where that is not known. */
  of(id: number): Released | null {
    return this.#own.find((one) => one.id === id)?.released ?? null;
  }

  forget(id: number): void {
    this.#own = this.#own.filter((one) => one.id !== id);
  }

  clear(): void {
    this.#own = [];
  }
}

function nextChange() {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => (happen = resolve));
  return { happened, happen: () => happen() };
}

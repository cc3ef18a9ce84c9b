import type { NoteLimits, Notes } from '../../notes.ts';
import { KEY_PREFIX } from '../scripts.ts';
import type { StoreConnection } from '../store-connection.ts';

/** The text without the name of its change. Names distinguish two changes to the same text from one that is sent twice. */
const textOf = (stored: string | null): string | null =>
  stored === null ? null : stored.slice(stored.indexOf(' ') + 1);

/** Notes in the store, and the order in which they were changed. */
export class StoredNotes implements Notes {
  readonly #store: StoreConnection;
  readonly #limits: NoteLimits;
  readonly #texts: string;
  readonly #order: string;
  readonly #bytes: string;
  #changes = 0;

  /** @param kind the kind of notes, which is part of their keys */
  constructor(store: StoreConnection, kind: string, limits: NoteLimits) {
    this.#store = store;
    this.#limits = limits;
    this.#texts = `${KEY_PREFIX}{${kind}}:texts`;
    this.#order = `${KEY_PREFIX}{${kind}}:order`;
    this.#bytes = `${KEY_PREFIX}{${kind}}:bytes`;
  }

  async get(name: string): Promise<string | null> {
    return textOf(await this.#stored(name));
  }

  async all(): Promise<ReadonlyMap<string, string>> {
    const stored = await this.#store.reliably(() => this.#store.client.hgetall(this.#texts));
    return new Map(Object.entries(stored).map(([name, text]) => [name, textOf(text)!]));
  }

  async change(name: string, change: (before: string | null) => string | null): Promise<void> {
    const { notes, characters } = this.#limits;
    const keys = [this.#texts, this.#order, this.#bytes];
    for (;;) {
      const before = await this.#stored(name);
      const text = change(textOf(before));
      this.#changes += 1;
      const stored = text === null ? '' : `${this.#store.server}:${this.#changes} ${text}`;
      const isDone = await this.#store.reliably(() =>
        this.#store.script<number>('changeNote', ...keys, name, before ?? '', stored, notes, characters),
      );
      if (isDone === 1) return;
    }
  }

  #stored(name: string): Promise<string | null> {
    return this.#store.reliably(() => this.#store.client.hget(this.#texts, name));
  }
}

import type { NoteLimits, Notes } from '../../notes.ts';
import { KEY_PREFIX } from '../scripts.ts';
import type { StoreConnection } from '../store-connection.ts';

/** The text without the name of its change. Names distinguish two changes to the same text from one that is sent twice. */
const textOf = (stored: string | null): string | null =>
  stored === null ? null : stored.slice(stored.indexOf(' ') + 1);

/** Notes in the store, and the order in which they were changed. @param kind their kind, which is part of their keys */
export function storedNotes(store: StoreConnection, kind: string, { notes, characters }: NoteLimits): Notes {
  const tag = `${KEY_PREFIX}{${kind}}:`;
  const texts = `${tag}texts`;
  const keys = [texts, `${tag}order`, `${tag}bytes`];
  let changes = 0;
  const read = (name: string): Promise<string | null> => store.reliably(() => store.client.hget(texts, name));
  return {
    get: async (name) => textOf(await read(name)),
    async all() {
      const stored = await store.reliably(() => store.client.hgetall(texts));
      return new Map(Object.entries(stored).map(([name, text]) => [name, textOf(text)!]));
    },
    async change(name, change) {
      for (;;) {
        const before = await read(name);
        const text = change(textOf(before));
        changes += 1;
        const stored = text === null ? '' : `${store.server}:${changes} ${text}`;
        const isDone = await store.reliably(() =>
          store.script<number>('changeNote', ...keys, name, before ?? '', stored, notes, characters),
        );
        if (isDone === 1) return;
      }
    },
  };
}

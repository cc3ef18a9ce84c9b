/** Texts by name, outside the worlds, which the servers of a store share. The one changed longest ago is dropped first. */
export interface Notes {
  get(name: string): string | null | Promise<string | null>;
  all(): Promise<ReadonlyMap<string, string>>;
  /** Replaces a text; null stands for none. @param change makes the new one; called again when another server was quicker */
  change(name: string, change: (before: string | null) => string | null): Promise<void>;
}

/** About how much notes may hold. The newest is always kept. */
export interface NoteLimits {
  readonly notes: number;
  readonly characters: number;
}

/** The notes of one process. */
export function memoryNotes({ notes, characters }: NoteLimits): Notes {
  /** The one that was changed longest ago comes first. */
  const texts = new Map<string, string>();
  let held = 0;
  const remove = (name: string): void => {
    held -= texts.get(name)?.length ?? 0;
    texts.delete(name);
  };
  return {
    get: (name) => texts.get(name) ?? null,
    all: async () => new Map(texts),
    async change(name, change) {
      const text = change(texts.get(name) ?? null);
      remove(name);
      if (text === null) return;
      texts.set(name, text);
      held += text.length;
      for (const oldest of texts.keys()) {
        if (texts.size <= notes && held <= characters) break;
        if (oldest !== name) remove(oldest);
      }
    },
  };
}

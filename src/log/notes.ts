/**
 * Texts by name, kept outside the worlds. The servers of one store share them. They are bounded: the one that was changed
 * longest ago is dropped first.
 */
export interface Notes {
  get(name: string): string | null | Promise<string | null>;
  all(): Promise<ReadonlyMap<string, string>>;
  /**
   * Replaces a text; null stands for none.
   *
   * @param change makes the new text; called again when another server was quicker
   */
  change(name: string, change: (before: string | null) => string | null): Promise<void>;
}

/** About how much notes may hold. The newest is always kept. */
export interface NoteLimits {
  readonly notes: number;
  readonly characters: number;
}

/** The notes of one process. */
export class MemoryNotes implements Notes {
  readonly #limits: NoteLimits;
  /** The one that was changed longest ago comes first. */
  readonly #texts = new Map<string, string>();
  #characters = 0;

  constructor(limits: NoteLimits) {
    this.#limits = limits;
  }

  get(name: string): string | null {
    return this.#texts.get(name) ?? null;
  }

  async all(): Promise<ReadonlyMap<string, string>> {
    return new Map(this.#texts);
  }

  async change(name: string, change: (before: string | null) => string | null): Promise<void> {
    const text = change(this.#texts.get(name) ?? null);
    this.#remove(name);
    if (text === null) return;
    this.#texts.set(name, text);
    this.#characters += text.length;
    for (const oldest of this.#texts.keys()) {
      const { notes, characters } = this.#limits;
      if (this.#texts.size <= notes && this.#characters <= characters) break;
      if (oldest !== name) this.#remove(oldest);
    }
  }

  #remove(name: string): void {
    this.#characters -= this.#texts.get(name)?.length ?? 0;
    this.#texts.delete(name);
  }
}

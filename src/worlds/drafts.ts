/** Room for a state that is being read. */
export interface Draft {
  /** Whether the sandbox wrote it: only transactions need room then, as when they were made, and a scenario only if it was chosen. */
  readonly isOwn: boolean;
  /** Reserves more room. @throws Refusal SANDBOX_FULL when there is none */
  grow(records: number, scenarioCharacters: number): void;
  /** Releases all of it. */
  end(): void;
}

interface DraftOptions {
  readonly isOwn: boolean;
  /** How many records the world holds that the state will replace: as many need no room. 0 for no world. */
  readonly replaced: number;
  /** @throws Refusal SANDBOX_FULL without so much room */
  readonly demandRoom: (records: number, scenarioCharacters: number) => void;
}

/** What states hold that are still being read, beyond what they replace. */
export class Drafts {
  records = 0;
  scenarioCharacters = 0;
  /** The one that needs no room for what it replaces. Both are in memory until it has: of many uploads at once, that would be too much. */
  #replacing: object | null = null;

  begin({ isOwn, replaced, demandRoom }: DraftOptions): Draft {
    const own = { records: 0, scenarioCharacters: 0 };
    if (replaced > 0) this.#replacing ??= own;
    let covered = this.#replacing === own ? replaced : 0;
    const take = (records: number, scenarioCharacters: number): void => {
      for (const sum of [own, this]) {
        sum.records += records;
        sum.scenarioCharacters += scenarioCharacters;
      }
    };
    return {
      isOwn,
      grow: (records, scenarioCharacters) => {
        const more = Math.max(0, records - covered);
        covered -= records - more;
        demandRoom(more, scenarioCharacters);
        take(more, scenarioCharacters);
      },
      end: () => {
        take(-own.records, -own.scenarioCharacters);
        if (this.#replacing === own) this.#replacing = null;
      },
    };
  }
}

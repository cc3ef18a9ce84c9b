import {
  scenarioCharactersHeld,
  full,
  noRoomForScenario,
  recordsHeld,
  type WorldState,
} from '../../world/state.ts';

/** What one world holds, as the limits over all worlds count it. */
export interface WorldSize {
  readonly records: number;
  readonly scenarioCharacters: number;
  /** The characters of the requests that it remembers, and of the commands from which its past can be made again. */
  readonly characters: number;
}

export const NOTHING: WorldSize = { records: 0, scenarioCharacters: 0, characters: 0 };

/** @param pastCharacters of what is kept of its past */
export const sizeOf = (state: Readonly<WorldState>, pastCharacters = 0): WorldSize => ({
  records: recordsHeld(state),
  scenarioCharacters: scenarioCharactersHeld(state),
  characters: state.requests.characters + pastCharacters,
});

/** What all worlds of a server may hold together. */
export interface TotalLimits {
  /** SANDBOX_MAX_TRANSACTIONS */
  readonly maxRecords: number;
  /** For the scenarios and rules that worlds choose: SANDBOX_SCENARIO_MEMORY. */
  readonly maxScenarioCharacters: number;
  /** For the requests of all worlds: SANDBOX_JOURNAL_MEMORY. */
  readonly maxCharacters: number;
}

/** Room for a state that is being read. */
export interface Draft {
  /** Reserves more room. @throws Refusal SANDBOX_FULL when there is none */
  grow(records: number, scenarioCharacters: number): void;
  /** Releases all of it. */
  end(): void;
}

type Needs = Pick<WorldSize, 'records' | 'scenarioCharacters'>;

/** @throws Refusal SANDBOX_FULL when there is not enough room */
export function demandRoom(needed: Needs, room: Needs, maxRecords: number): void {
  if (needed.records > room.records) throw full(maxRecords);
  if (needed.scenarioCharacters > room.scenarioCharacters) throw noRoomForScenario();
}

/** What all worlds hold together, and may hold. */
export class Totals {
  readonly limits: TotalLimits;
  records = 0;
  scenarioCharacters = 0;
  characters = 0;
  /** What states hold that are still being read. Some of their items count as a fraction of a record. */
  readonly #drafted = { records: 0, scenarioCharacters: 0 };

  constructor(limits: TotalLimits) {
    this.limits = limits;
  }

  get recordsFree(): number {
    return this.limits.maxRecords - this.records - Math.floor(this.#drafted.records);
  }

  get scenarioCharactersFree(): number {
    return this.limits.maxScenarioCharacters - this.scenarioCharacters - this.#drafted.scenarioCharacters;
  }

  /** Replaces what is counted for a world. */
  replace(before: WorldSize, now: WorldSize): void {
    this.records += now.records - before.records;
    this.scenarioCharacters += now.scenarioCharacters - before.scenarioCharacters;
    this.characters += now.characters - before.characters;
  }

  /** Starts to count a state that is being read. */
  draft(): Draft {
    const drafted = this.#drafted;
    const own = { records: 0, scenarioCharacters: 0 };
    const take = (records: number, scenarioCharacters: number): void => {
      for (const sum of [own, drafted]) {
        sum.records += records;
        sum.scenarioCharacters += scenarioCharacters;
      }
    };
    return {
      grow: (records, scenarioCharacters) => {
        const more = Math.floor(drafted.records + records) - Math.floor(drafted.records);
        const room = { records: this.recordsFree, scenarioCharacters: this.scenarioCharactersFree };
        demandRoom({ records: more, scenarioCharacters }, room, this.limits.maxRecords);
        take(records, scenarioCharacters);
      },
      end: () => take(-own.records, -own.scenarioCharacters),
    };
  }
}

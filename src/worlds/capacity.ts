import type { Command } from '../world/commands.ts';
import {
  full,
  noRoomForScenario,
  recordsHeld,
  scenarioCharactersHeld,
  transactionsHeld,
  undoHeld,
  type WorldState,
} from '../world/state.ts';
import type { Room } from './order.ts';

/** What all worlds of a server may hold together. */
export interface Limits {
  /** How many requests one world remembers. */
  readonly maxRequests: number;
  /** SANDBOX_MAX_TRANSACTIONS */
  readonly maxRecords: number;
  /** For the scenarios and rules that worlds choose: SANDBOX_SCENARIO_MEMORY. */
  readonly maxScenarioCharacters: number;
  /** How many requests all worlds remember together: SANDBOX_JOURNAL_TOTAL. */
  readonly maxRequestsInAll: number;
}

/** What a world holds, as the limits over all worlds count it. */
export interface WorldSize {
  records: number;
  /** The part of them that a full sandbox refuses. */
  transactions: number;
  scenarioCharacters: number;
  /** The requests that it remembers, and what is kept to undo actions, and for readers that resume. */
  requests: number;
}

export const NOTHING: WorldSize = { records: 0, transactions: 0, scenarioCharacters: 0, requests: 0 };

/** Room for a state that is being read. */
export interface Draft {
  /** Whether the sandbox wrote it: only transactions need room then, as when they were made, and a scenario only if it was chosen. */
  readonly isOwn: boolean;
  /** Reserves more room. @throws Refusal SANDBOX_FULL when there is none */
  grow(records: number, scenarioCharacters: number): void;
  /** Releases all of it. */
  end(): void;
}

function sizeOf(state: Readonly<WorldState>, recentEvents: number): WorldSize {
  const past = undoHeld(state) + recentEvents;
  return {
    records: recordsHeld(state),
    transactions: transactionsHeld(state),
    scenarioCharacters: scenarioCharactersHeld(state),
    requests: state.requests.list.length + past,
  };
}

/** What all worlds of a server hold, and what they still may. */
export class Capacity {
  readonly #limits: Limits;
  readonly #keep: number;
  readonly #held = { ...NOTHING };
  /** What states hold that are still being read, beyond what they replace. */
  readonly #drafts = { records: 0, scenarioCharacters: 0 };
  /** The draft that needs no room for what it replaces. Both are in memory until it has: of many uploads at once, that would be too much. */
  #replacing: object | null = null;

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#keep = Math.min(limits.maxRequests, limits.maxRequestsInAll);
  }

  get records(): number {
    return this.#held.records;
  }

  /** Whether all worlds remember more than this part of what they may. */
  remembersMoreThan(part: number): boolean {
    return this.#held.requests > this.#limits.maxRequestsInAll * part;
  }

  get hasTooManyRecords(): boolean {
    return this.#held.records > this.#limits.maxRecords;
  }

  /** Counts what a world holds now. @param before what it held, 0 for a new one @returns what it holds; null for one that has ended */
  count(before: WorldSize, state: Readonly<WorldState> | null, recentEvents: number): WorldSize {
    const size = state === null ? NOTHING : sizeOf(state, recentEvents);
    const held = this.#held;
    held.records += size.records - before.records;
    held.transactions += size.transactions - before.transactions;
    held.scenarioCharacters += size.scenarioCharacters - before.scenarioCharacters;
    held.requests += size.requests - before.requests;
    return size;
  }

  /** How much a world may hold. @param size what it holds @throws Refusal SANDBOX_FULL without enough room for a restore */
  roomFor(size: WorldSize, command: Command): Room {
    const scenarioCharactersFree = this.#scenarioCharactersFree;
    if (command.kind === 'restore') {
      const needed = sizeOf(command.state, 0);
      const scenarioRoom = size.scenarioCharacters + scenarioCharactersFree;
      const room = size.transactions + this.#free('transactions');
      this.#demand(needed.transactions, room, needed.scenarioCharacters, scenarioRoom);
    }
    const records = size.records + this.#free('records');
    return { maxRecords: this.#limits.maxRecords, records, scenarioCharactersFree, keep: this.#keep };
  }

  /** Starts to count a state that is being read. @param replaced what the world holds that it will replace */
  draft(isOwn: boolean, replaced: WorldSize): Draft {
    const own = { records: 0, scenarioCharacters: 0 };
    if (replaced.records > 0) this.#replacing ??= own;
    let covered = this.#replacing === own ? replaced.records : 0;
    const take = (records: number, scenarioCharacters: number): void => {
      for (const sum of [own, this.#drafts]) {
        sum.records += records;
        sum.scenarioCharacters += scenarioCharacters;
      }
    };
    return {
      isOwn,
      grow: (records, scenarioCharacters) => {
        const more = Math.max(0, records - covered);
        covered -= records - more;
        const room = this.#free(isOwn ? 'transactions' : 'records');
        this.#demand(more, room, scenarioCharacters, this.#scenarioCharactersFree);
        take(more, scenarioCharacters);
      },
      end: () => {
        take(-own.records, -own.scenarioCharacters);
        if (this.#replacing === own) this.#replacing = null;
      },
    };
  }

  #free(part: 'records' | 'transactions'): number {
    return this.#limits.maxRecords - this.#held[part] - this.#drafts.records;
  }

  get #scenarioCharactersFree(): number {
    const taken = this.#held.scenarioCharacters + this.#drafts.scenarioCharacters;
    return this.#limits.maxScenarioCharacters - taken;
  }

  #demand(records: number, room: number, scenarioCharacters: number, scenarioRoom: number): void {
    if (records > Math.max(0, room)) throw full(this.#limits.maxRecords);
    if (scenarioCharacters > scenarioRoom) throw noRoomForScenario();
  }
}

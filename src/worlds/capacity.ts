import { full, noRoomForRules } from '../contract/errors.ts';
import type { Command, Room } from '../world/commands.ts';
import { rulesHeld, transactionsHeld, undoHeld } from '../world/state.ts';
import type { WorldState } from '../world/state-shape.ts';

/** What all worlds of a server may hold together. */
export interface Limits {
  /** How many requests one world remembers. */
  readonly maxRequests: number;
  /** SANDBOX_MAX_TRANSACTIONS */
  readonly maxTransactions: number;
  /** SANDBOX_MAX_RULES */
  readonly maxRules: number;
  /** How many requests all worlds remember together: SANDBOX_JOURNAL_TOTAL. */
  readonly maxRequestsInAll: number;
}

/** What a world holds, as the limits over all worlds count it. */
export interface WorldSize {
  transactions: number;
  rules: number;
  /** The requests that it remembers, and what is kept to undo actions, and for readers that resume. */
  requests: number;
}

export const NOTHING: WorldSize = { transactions: 0, rules: 0, requests: 0 };

const sizeOf = (state: Readonly<WorldState>, recentEvents: number): WorldSize => ({
  transactions: transactionsHeld(state),
  rules: rulesHeld(state.scenario, state.index),
  requests: state.requests.list.length + undoHeld(state) + recentEvents,
});

/** What all worlds of a server hold, and what they still may. */
export class Capacity {
  readonly #limits: Limits;
  readonly #keep: number;
  /** What all worlds hold together. */
  readonly held = { ...NOTHING };

  constructor(limits: Limits) {
    this.#limits = limits;
    this.#keep = Math.min(limits.maxRequests, limits.maxRequestsInAll);
  }

  /** Whether all worlds remember more than this part of what they may. */
  remembersMoreThan(part: number): boolean {
    return this.held.requests > this.#limits.maxRequestsInAll * part;
  }

  get isExceeded(): boolean {
    return this.held.transactions > this.#limits.maxTransactions || this.remembersMoreThan(1);
  }

  /** Counts what a world holds now. @param before what it held, 0 for a new one @returns what it holds; null for one that has ended */
  count(before: WorldSize, state: Readonly<WorldState> | null, recentEvents: number): WorldSize {
    const size = state === null ? NOTHING : sizeOf(state, recentEvents);
    const { held } = this;
    held.transactions += size.transactions - before.transactions;
    held.rules += size.rules - before.rules;
    held.requests += size.requests - before.requests;
    return size;
  }

  /** How much a world may hold. @param size what it holds */
  roomOf({ transactions }: WorldSize): Room {
    const { maxTransactions, maxRules } = this.#limits;
    const { transactions: held, rules } = this.held;
    return {
      maxTransactions,
      transactions: transactions + maxTransactions - held,
      rulesFree: maxRules - rules,
      keep: this.#keep,
    };
  }

  /** The same for a command. @throws Refusal SANDBOX_FULL without enough room for a restore */
  roomFor(size: WorldSize, command: Command): Room {
    const room = this.roomOf(size);
    if (command.kind === 'restore') {
      const needed = sizeOf(command.state, 0);
      if (needed.transactions > Math.max(0, room.transactions)) throw full(room.maxTransactions);
      if (needed.rules > size.rules + room.rulesFree) throw noRoomForRules();
    }
    return room;
  }
}

import { Refusal } from '../contract/errors.ts';
import type { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { Change } from '../payout/payout.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { ResultOf } from '../world/apply.ts';
import type { Command } from '../world/commands.ts';
import type { Exchange } from '../world/journal/exchange.ts';
import type { JournalRead } from '../world/journal/journal.ts';
import type { WorldState } from '../world/state.ts';
import type { EventReader } from './event-log.ts';
import type { NoteLimits, Notes } from './notes.ts';
import type { Releases } from './releases.ts';
import type { WallClock } from './wall-clock.ts';

/**
 * The seam to storage: it orders the commands of each world, and applies them with `world/apply.ts`. Whatever stands behind
 * it, every command is one atomic step, and every answer is up to date. A log in memory answers at once where a log in a
 * store gives a promise, which a Refusal STORE_UNAVAILABLE may end.
 */
export interface WorldLog {
  /** How many worlds there are, and how many there may be. */
  readonly size: number;
  readonly maxWorlds: number;
  /** How many records all worlds hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
  readonly recordsHeld: number;
  /** Goes up with every use of any world: as long as it stays the same, nothing has changed. */
  readonly uses: number;
  /**
   * The world of this id, up to date, opened at its first use. Counts as a use.
   *
   * @param begins whether a request of the service begins, which then takes its place in the journal
   */
  use(worldId: string, begins?: boolean): WorldHandle | Promise<WorldHandle>;
  /** The state of a world as this server knows it, which others may have changed; undefined where it knows none. Not a use. */
  known(worldId: string): Readonly<WorldState> | undefined;
  /** The ids of all worlds, the one that was idle longest first. */
  ids(): readonly string[] | Promise<readonly string[]>;
  /** What a list shows of some worlds, without those that are gone. Not a use. */
  rows(worldIds: readonly string[]): Promise<readonly WorldRow[]>;
  /** Looks at a world that it does not open. Not a use. @returns null where there is none */
  visit<T>(worldId: string, look: (world: WorldHandle) => Promise<T>): Promise<T | null>;
  /** Ends a world. @returns whether there was one */
  drop(worldId: string): boolean | Promise<boolean>;
  /** Counts a state that is being read beside its world. */
  draft(): Draft;
  /** Texts that are kept beside the worlds. @param kind what they are notes of; each kind is asked for once */
  notes(kind: string, limits: NoteLimits): Notes;
}

/** What a list shows of a world. */
export interface WorldRow {
  readonly id: string;
  /** Wall time of its first and its latest use, ms since the epoch. */
  readonly openedAtMs: number;
  readonly usedAtMs: number;
  readonly balancePaise: number;
  readonly transactions: number;
  readonly scenario: string;
}

export const worldRow = (
  { id, wallet, payouts, index }: Readonly<WorldState>,
  openedAtMs: number,
  usedAtMs: number,
): WorldRow => ({
  id,
  openedAtMs,
  usedAtMs,
  balancePaise: wallet.balancePaise,
  transactions: payouts.length,
  scenario: index.base.name,
});

/** Room for a state that is being read. */
export interface Draft {
  /** Takes room for so much more. @throws Refusal SANDBOX_FULL when there is none */
  grow(records: number, documentBytes: number): void;
  /** Gives all of it back. */
  end(): void;
}

/** What all worlds of a log may hold together. */
export interface TotalLimits {
  readonly maxRecords: number;
  readonly maxAttempts: number;
  /** In the scenarios and rules that worlds choose. */
  readonly maxDocumentBytes: number;
}

/** What every log is made with. */
export interface LogOptions extends TotalLimits {
  readonly compiler: ScenarioCompiler;
  /** The scenario of every world that has not chosen another. A reload of its file changes it. */
  readonly activeSource: () => ScenarioSource;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  /** One more drops the world that was idle longest. */
  readonly maxWorlds: number;
  /** A world without a request for this long, in ms of wall time, is dropped. */
  readonly idleMs: number;
  /** How much the journal of one world may hold. */
  readonly journalLimits: { readonly items: number; readonly bytes: number };
}

/** One world, as a server uses it. */
export interface WorldHandle {
  readonly id: string;
  /** World time, ms since the epoch. */
  readonly nowMs: number;
  /** The state as this server knows it, for what need not be newer than the use of its world. Read it, never keep it. */
  readonly latest: Readonly<WorldState>;
  /** The answers that rules hold back on this server. */
  readonly delayed: DelayedAnswers;
  /** How the requests ended that rules hold until somebody releases them. */
  readonly releases: Releases;
  /** The journal is beside the log, since it holds wall times and what became of connections. */
  readonly journal: WorldJournal;
  /**
   * Orders one command and applies it.
   *
   * @param onChanges called with the steps that the command made happen, part by part: there may be a million
   * @throws Refusal as the command is refused; SANDBOX_FULL when the world was dropped meanwhile
   */
  submit<C extends Command>(
    command: C,
    onChanges?: (changes: readonly Change[]) => void,
  ): Promise<ResultOf<C>>;
  /** Looks at the state, up to date: what is due by now has happened. */
  read<T>(look: (state: Readonly<WorldState>) => T): Promise<T>;
  /**
   * Reads events, as they come.
   *
   * @param afterId the id of the last event that the reader has; from now on when absent
   * @returns a function that ends the reading
   * @throws Refusal TOO_MANY_READERS
   */
  watch(afterId: string | undefined, reader: EventReader): (() => void) | Promise<() => void>;
  /** Publishes a request as an event. */
  announce(exchange: Exchange): void;
}

export interface WorldJournal {
  /** Takes in a request that has just come. @param headersLength how many characters its headers have */
  begin(exchange: Exchange, headersLength: number): ExchangePlace;
  /** What is known, the oldest first, and how many older requests were dropped. */
  read(): JournalRead | Promise<JournalRead>;
  /** Drops all of it. @returns how many requests that were */
  clear(): number | Promise<number>;
}

/** The place of one exchange in a journal. */
export interface ExchangePlace {
  /** Which request of its world it is, counted from 1; 0 until it is known. */
  readonly nth: number;
  /** Puts what is now known of the exchange in the place of what was known. A promise of it never fails. */
  readonly update: (exchange: Exchange) => void | Promise<void>;
}

/** Looks at the state of a world, or resolves to null when it was dropped meanwhile. */
export async function readUnlessDropped<T>(
  world: WorldHandle,
  look: (state: Readonly<WorldState>) => T,
): Promise<T | null> {
  try {
    return await world.read(look);
  } catch (error) {
    if (error instanceof Refusal && error.code === 'SANDBOX_FULL') return null;
    throw error;
  }
}

/** Called with what happens in worlds. */
export interface WorldObserver {
  settled(worldId: string, change: Change): void;
  /** A settlement that no request waits for has failed: our own fault. */
  failed(worldId: string, error: unknown): void;
  dropped(worldId: string, reason: DropReason): void;
}

/** Why a world was dropped: it was idle, a new world needed its place, the admin API dropped it, or the sandbox stops. */
export type DropReason = 'idle' | 'cap' | 'admin' | 'stop';

const DROPPED: Readonly<Record<DropReason, { readonly why: string; readonly limit: string }>> = {
  idle: { why: 'it was idle for too long (SANDBOX_WORLD_IDLE)', limit: 'SANDBOX_WORLD_IDLE' },
  cap: { why: 'to make room for newer ones (SANDBOX_MAX_WORLDS)', limit: 'SANDBOX_MAX_WORLDS' },
  admin: { why: 'with DELETE /_sandbox/worlds', limit: 'DELETE /_sandbox/worlds' },
  stop: { why: 'the sandbox stops', limit: 'stop' },
};

export function dropped(reason: DropReason): Refusal {
  const { why, ...limit } = DROPPED[reason];
  return new Refusal('SANDBOX_FULL', {
    message: `This world was dropped while the request waited: ${why}`,
    headers: { connection: 'close' }, // as for every answer that the end of a world releases
    ...limit,
  });
}

/** The answers that one world holds back, as functions that end them. */
export class DelayedAnswers {
  /** Null until the first is held back: most worlds hold none back. */
  #ends: Set<() => void> | null = null;
  #isOver = false;
  #isForGood = false;

  /**
   * Holds an answer back, until the function that is returned is called.
   *
   * @param end called when the answers are released before, or are for good already
   */
  hold(end: () => void): () => void {
    if (this.#isOver) {
      end();
      return () => undefined;
    }
    const ends = (this.#ends ??= new Set());
    ends.add(end);
    return () => ends.delete(end);
  }

  get isEmpty(): boolean {
    return this.#ends === null || this.#ends.size === 0;
  }

  /** Whether the world, or the sandbox, ends with its answers: a reset ends only them. */
  get isForGood(): boolean {
    return this.#isForGood;
  }

  /** Ends all of them. @param forGood when the world or the sandbox ends */
  release(forGood = false): void {
    this.#isForGood ||= forGood;
    for (const end of this.#ends ?? []) end();
    this.#ends?.clear();
  }

  /** Ends all of them, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release(true);
  }
}

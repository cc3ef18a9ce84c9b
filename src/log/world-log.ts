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
 * The boundary to storage: it orders the commands of each world, and applies them with `world/apply.ts`. In every
 * implementation, each command is one atomic step, and each answer is up to date. A log in memory answers at once; a log in a
 * store returns a promise, which may reject with Refusal STORE_UNAVAILABLE.
 */
export interface WorldLog {
  /** How many worlds there are, and how many there may be. */
  readonly size: number;
  readonly maxWorlds: number;
  /** How many records all worlds hold, as SANDBOX_MAX_TRANSACTIONS counts them. */
  readonly recordsHeld: number;
  /** Increases with every use of any world: while it stays the same, nothing has changed. */
  readonly uses: number;
  /**
   * The world of this id, up to date, opened at its first use. Counts as a use.
   *
   * @param begins whether a request of the service begins, which then takes its place in the journal
   */
  use(worldId: string, begins?: boolean): WorldHandle | Promise<WorldHandle>;
  /** The state of a world as this server knows it, which others may have changed; undefined when it knows none. Not a use. */
  known(worldId: string): Readonly<WorldState> | undefined;
  /** The ids of all worlds, the one that was idle longest first. */
  ids(): readonly string[] | Promise<readonly string[]>;
  /** What a list shows of some worlds, without those that are gone. Not a use. */
  rows(worldIds: readonly string[]): Promise<readonly WorldRow[]>;
  /** Looks at a world without opening it. Not a use. @returns null when there is none */
  visit<T>(worldId: string, look: (world: WorldHandle) => Promise<T>): Promise<T | null>;
  /** Ends a world. @returns whether there was one */
  drop(worldId: string): boolean | Promise<boolean>;
  /** Starts to count a state that is being read. */
  draft(): Draft;
  /** Texts that are kept outside the worlds. @param kind their name; each kind is requested once */
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
  /** Reserves more room. @throws Refusal SANDBOX_FULL when there is none */
  grow(records: number, documentBytes: number): void;
  /** Releases all of it. */
  end(): void;
}

/** What all worlds of a log may hold together. */
export interface TotalLimits {
  readonly maxRecords: number;
  readonly maxAttempts: number;
  /** For the scenarios and rules that worlds choose. */
  readonly maxDocumentBytes: number;
}

/** The options of every log. */
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
  /** The state as this server knows it, for readers to whom the time of the world's use is recent enough. Never keep it. */
  readonly latest: Readonly<WorldState>;
  /** The answers that rules delay on this server. */
  readonly delayed: DelayedAnswers;
  /** How the requests ended that rules hold until somebody releases them. */
  readonly releases: Releases;
  /** The journal is not part of the log, since it holds wall times and the fate of connections. */
  readonly journal: WorldJournal;
  /**
   * Orders one command and applies it.
   *
   * @param onChanges called with the steps that the command applied, part by part: there may be a million
   * @throws Refusal as the command is refused; SANDBOX_FULL when the world was dropped meanwhile
   */
  submit<C extends Command>(
    command: C,
    onChanges?: (changes: readonly Change[]) => void,
  ): Promise<ResultOf<C>>;
  /** Reads the up-to-date state, with everything applied that is due by now. */
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
  /** Enters a request that has just come. @param headersLength how many characters its headers have */
  begin(exchange: Exchange, headersLength: number): ExchangePlace;
  /** The requests, the oldest first, and how many older ones were dropped. */
  read(): JournalRead | Promise<JournalRead>;
  /** Drops all requests. @returns how many there were */
  clear(): number | Promise<number>;
}

/** The place of one exchange in a journal. */
export interface ExchangePlace {
  /** Which request of its world it is, counted from 1; 0 until it is known. */
  readonly nth: number;
  /** Replaces what was known about the exchange. The promise never rejects. */
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
  /** A settlement that no request waits for has failed, which is a bug. */
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

/** The delayed answers of one world, as functions that end them. */
export class DelayedAnswers {
  /** Null until the first: most worlds delay no answers. */
  #ends: Set<() => void> | null = null;
  #isOver = false;
  #isForGood = false;

  /**
   * Registers a delayed answer, until the returned function is called.
   *
   * @param end called when the answers are released earlier, or at once when they have been released for good
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

  /** Whether the world or the sandbox has ended, too; a reset ends only the answers. */
  get isForGood(): boolean {
    return this.#isForGood;
  }

  /** Ends all answers. @param forGood when the world or the sandbox ends */
  release(forGood = false): void {
    this.#isForGood ||= forGood;
    for (const end of this.#ends ?? []) end();
    this.#ends?.clear();
  }

  /** Ends all answers, and every later one at once. */
  close(): void {
    this.#isOver = true;
    this.release(true);
  }
}

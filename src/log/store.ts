import type { ScenarioSource } from '../scenario/scenario.ts';
import type { Command, Stamp } from '../world/commands.ts';
import type { FrozenState } from '../world/copy.ts';

export type MaybePromise<T> = T | Promise<T>;

/** Uses a value at once, unless it is still to come. */
export const when = <T, R>(value: MaybePromise<T>, use: (value: T) => R): MaybePromise<R> =>
  value instanceof Promise ? value.then(use) : use(value);

/** A place in the log of a world: the position of a command, counted from 1, and its name, which no other command has. */
export interface Place {
  readonly position: number;
  readonly name: string;
}

/** A command that a server wants in the log of a world. */
export interface NewCommand {
  /** Which command of its server it is, in any world: one that is sent twice is kept once. */
  readonly number: number;
  readonly command: Command;
  readonly stamp: Omit<Stamp, 'position' | 'wallMs'>;
}

/** A command in the log of a world. */
export interface Logged extends Place {
  readonly number: number;
  readonly command: Command;
  readonly stamp: Stamp;
}

/** A state, and its place in the log: commands from there on are applied to it. */
export interface Base extends Place {
  readonly state: () => FrozenState;
}

/** A world that was opened: a state from which its log can be followed. */
export interface Opened {
  /** Distinguishes the lives of a world: it differs once the world was dropped and opened again. */
  readonly epoch: string;
  readonly openedAtMs: number;
  /** Whether it was made now. */
  readonly isNew: boolean;
  readonly base: Base;
}

/** What an append returns. */
export type Appended =
  /** The commands that the server had not seen, its own among them, in their order. */
  | { readonly kind: 'done'; readonly commands: readonly Logged[] }
  /** Some of the commands that the server has not seen. There are more, so its own were not appended by this call. */
  | { readonly kind: 'more'; readonly commands: readonly Logged[]; readonly isUnsure: boolean }
  /** The log does not continue what the server has seen: it opens the world again. `isUnsure` when its commands may be in the log. */
  | { readonly kind: 'moved'; readonly isUnsure: boolean }
  /** The world has ended. */
  | { readonly kind: 'gone'; readonly reason: DropReason };

/**
 * Why a world was dropped: it was idle, a new world needed its place, the admin API dropped it, or the sandbox stops. Nobody
 * dropped a world that is lost: the store has come back without it, or with older data.
 */
export type DropReason = 'idle' | 'cap' | 'admin' | 'stop' | 'lost';

/**
 * Orders the commands of each world and keeps them: everything else follows from that. A store in memory returns at once; one
 * that many servers share returns promises, which may reject with Refusal STORE_UNAVAILABLE.
 */
export interface Store {
  /** The name of this server, which differs from that of every other server of the store. */
  readonly server: string;
  /** The store's own time, ms since the epoch: one clock for all servers. */
  nowMs(): number;
  /** Opens a world. @param source the scenario of a new one; null to make none @returns null when there is none */
  open(worldId: string, source: ScenarioSource | null): MaybePromise<Opened | null>;
  /** Appends commands; without any, it returns what is new. @param seen what this server has applied */
  append(
    worldId: string,
    epoch: string,
    seen: Place,
    commands: readonly NewCommand[],
  ): MaybePromise<Appended>;
  /** After how many commands a state with so many payouts is worth keeping. */
  compactAfter(payouts: number): number;
  /** Keeps a state from which the log can be followed, and drops what is too old. */
  compact(worldId: string, epoch: string, base: Base): MaybePromise<void>;
  /** Calls back when another server may have appended something. @returns a function that ends it */
  wake(worldId: string, callback: () => void): () => void;
  /** Ends a world. @param idleMs only when it was not used for this long @returns whether there was one */
  drop(worldId: string, reason: DropReason, idleMs?: number): MaybePromise<boolean>;
  /** The list of all worlds, where many servers share them; null where this process has them all. */
  readonly directory: Directory | null;
  close(): void;
}

/** A use of a world on this server. */
interface Use {
  readonly id: string;
  /** 0 when it was noted before. */
  readonly usedAtMs: number;
  readonly epoch: string;
  /** The position up to which this server knows it, and how many records it holds there. */
  readonly position: number;
  readonly records: number;
}

/** Some worlds of a list, the one that was idle longest first, and the time of the last one's use; null on the last page. */
export interface WorldsPage {
  readonly ids: readonly string[];
  readonly next: number | null;
}

/** The list of all worlds of a store that servers share. Its totals are approximate. */
export interface Directory {
  /** How many worlds there are, and how many records they hold, as of the last exchange. */
  readonly worlds: number;
  readonly records: number;
  /** The ids of all worlds, the one that was idle longest first. */
  ids(): Promise<readonly string[]>;
  /** Those that were used after a time: as many as given, and those that were used in the same millisecond as the last of them. */
  page(afterMs: number, count: number): Promise<WorldsPage>;
  /** When a world was first and last used, in ms of wall time; null for one that is not listed. */
  times(worldId: string): Promise<{ readonly openedAtMs: number; readonly usedAtMs: number } | null>;
  /** Lists a world. @returns the number of all worlds */
  add(worldId: string, usedAtMs: number): Promise<number>;
  remove(worldId: string): Promise<void>;
  /** The world whose drop loses least: one of the idlest without records, else the idlest. @param except the new one */
  leastMissed(except: string): Promise<string | undefined>;
  /** Notes uses of worlds. @returns what the list then knows of each; null for one that is not listed */
  exchange(
    uses: readonly Use[],
  ): Promise<readonly ({ readonly epoch: string; readonly records: number } | null)[]>;
  /** Some worlds that were idle for this long, which no other server is ending. */
  claimIdle(idleMs: number): Promise<readonly string[]>;
}

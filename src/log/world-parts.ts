import type { ScenarioSource, ScenarioCompiler } from '../scenario/scenario.ts';
import type { Change } from '../payout/payout.ts';
import type { Applied } from '../world/apply.ts';
import type { Command, Stamp } from '../world/commands.ts';
import type { WorldState } from '../world/state.ts';
import type { OrderedCommand } from './command-parts.ts';
import type { DropReason, Logged, MaybePromise, Store } from './store.ts';
import type { WallClock } from './wall-clock.ts';

/** How much a world may hold. */
export type Room = Pick<Stamp, 'maxRecords' | 'records' | 'keep' | 'scenarioCharactersFree'>;

/** What the logs of all worlds of a server share. */
export interface LogParts {
  readonly store: Store;
  readonly compiler: ScenarioCompiler;
  readonly wallClock: WallClock;
  readonly observer: WorldObserver;
  /** A number that no other command of this server has. */
  readonly nextNumber: () => number;
  /** The scenario of a new world. */
  readonly activeSource: () => ScenarioSource;
  /** A command of this server has used a world. */
  readonly used: () => void;
}

/** What all worlds of a server share. @template World what they are */
export interface WorldParts<World> extends LogParts {
  /** The scenario that a world should follow from now on; null while it has the right one. */
  readonly successorOf: (state: WorldState) => ScenarioSource | null;
  /** How much the world may hold. @throws Refusal SANDBOX_FULL without enough room for a restore */
  readonly roomFor: (world: World, command: Command) => Room;
  /** The world may hold more or less than before. */
  readonly changed: (world: World) => void;
  /** It was dropped by another server, and made again. @param isNew by this server, for a request */
  readonly remade: (world: World, isNew: boolean) => MaybePromise<void>;
  readonly ended: (world: World, reason: DropReason) => void;
}

/** Called with what happens in worlds. */
export interface WorldObserver {
  settled(worldId: string, change: Change): void;
  /** A command that nobody waits for has failed, which is a bug. */
  failed(worldId: string, error: unknown): void;
  dropped(worldId: string, reason: DropReason): void;
}

/** Called when the store can no longer be used, and when it can again. */
export interface StoreObserver {
  readonly away: (reason: string) => void;
  readonly back: (awayMs: number) => void;
  /** Something that an operator should know about the store. */
  readonly warning: (what: string) => void;
  /** It has come back without a world that nobody dropped, or with older data of it. The world is read anew once this is done. */
  readonly lost: (worldId: string) => MaybePromise<void>;
  /** Called before a call is repeated. */
  readonly retried?: () => void;
  /** Called with the name of each call. @returns a function that ends its time */
  readonly calling?: ((name: string) => () => void) | undefined;
}

/** What the commands of a log do to the connections of this server, and what its world may hold. */
export interface LogOwner {
  /** @throws Refusal SANDBOX_FULL without enough room for a restore */
  roomFor(command: Command): Room;
  /** A command was applied for the first time here. @param item set for a command of this server that somebody waits for */
  happened(logged: Logged, outcome: Applied, item: OrderedCommand | null): void;
  /** A command was applied that others have happened to before. */
  remember(outcome: Applied): void;
  /** What came from the log was applied. */
  followed(): void;
  /** The world was opened again, at a later place. */
  reopened(how: Reopened): MaybePromise<void>;
  ended(reason: DropReason): void;
}

export interface Reopened {
  /** It was dropped, and made again for a request. */
  readonly isNew: boolean;
  /** It is the same world: it was not dropped meanwhile. */
  readonly isSame: boolean;
  /** Some commands were skipped. */
  readonly isSkipped: boolean;
  /** A reset or a restore was among them, or it is another world. */
  readonly isReplaced: boolean;
}

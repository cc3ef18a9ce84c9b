import type { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { Change } from '../payout/payout.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { Command, Stamp } from '../world/commands.ts';
import type { WorldState } from '../world/state.ts';
import type { DropReason, MaybePromise, Store } from './store.ts';
import type { WallClock } from './wall-clock.ts';

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
  readonly roomFor: (
    world: World,
    command: Command,
  ) => Pick<Stamp, 'maxRecords' | 'records' | 'keep' | 'scenarioCharactersFree'>;
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
  /** It has come back without a world that nobody dropped, or with older data of it. */
  readonly lost: (worldId: string) => void;
  /** Called before a call is repeated. */
  readonly retried?: () => void;
  /** Called with the name of each call. @returns a function that ends its time */
  readonly calling?: ((name: string) => () => void) | undefined;
}

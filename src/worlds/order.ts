import type { Change } from '../payout/payout.ts';
import type { Applied } from '../world/apply.ts';
import type { Command, Room } from '../world/commands.ts';
import type { Ended } from '../world/request/request-commands.ts';
import type { WorldState } from '../world/state-shape.ts';
import { Refusal, type RefusalDetails } from '../contract/errors.ts';

/**
 * Why a world was dropped: it was idle, a new world needed its place, the admin API dropped it, or the sandbox stops. In a store,
 * another server may have dropped it, or it has expired; one that is lost was dropped by nobody: the store has come back with older
 * data, or without it.
 */
export type DropReason = 'idle' | 'cap' | 'admin' | 'stop' | 'elsewhere' | 'lost';

const DROPPED: Readonly<Record<DropReason, { readonly why: string; readonly limit: string }>> = {
  idle: { why: 'it was idle for too long (SANDBOX_WORLD_IDLE)', limit: 'SANDBOX_WORLD_IDLE' },
  cap: { why: 'to make room for newer ones (SANDBOX_MAX_WORLDS)', limit: 'SANDBOX_MAX_WORLDS' },
  admin: { why: 'with DELETE /_sandbox/worlds', limit: 'DELETE /_sandbox/worlds' },
  elsewhere: {
    why: 'by another server, or it was idle for too long (SANDBOX_WORLD_IDLE)',
    limit: 'SANDBOX_STORE',
  },
  lost: { why: 'the store has lost it, or the end of its log', limit: 'SANDBOX_STORE' },
  stop: { why: 'the sandbox stops', limit: 'stop' },
};

/** The setting or the call that dropped a world. */
export const droppedBy = (reason: DropReason): string => DROPPED[reason].limit;

/** The refusal of a request to a world that was dropped. */
export function dropped(reason: DropReason): Refusal {
  const { why, ...limit } = DROPPED[reason];
  return new Refusal('SANDBOX_FULL', {
    message: `This world was dropped while the request waited: ${why}`,
    headers: { connection: 'close' }, // as for every response that the end of a world releases
    ...limit,
  });
}

/** The refusal of a request that needs a store which is away. */
export const unavailable = (details: RefusalDetails = {}): Refusal =>
  new Refusal('STORE_UNAVAILABLE', { ...details, headers: { 'retry-after': '1' } });

/** A world as it is opened. */
export interface Opened {
  /** Distinguishes the lives of a world: it differs once the world was dropped and opened again. */
  readonly epoch: string;
  /** Whether it was made now. */
  readonly isNew: boolean;
  readonly state: WorldState;
}

/**
 * Puts the commands of one world in order and has them applied. In memory that is a number, and a command has been applied when
 * `submit` returns; with a store it is a call, which may be refused with STORE_UNAVAILABLE.
 */
export interface Order {
  /** The position of the latest command that this server has applied, counted from 1. */
  readonly position: number;
  /** The time of all servers, ms since the epoch. */
  nowMs(): number;
  /** @returns the outcome of the command @throws Refusal SANDBOX_FULL when the world was dropped meanwhile */
  submit(command: Command, room: Room): Promise<Applied>;
  /** Records how a request ended. Nobody waits for it. @param isLate its response had to wait: other servers should know at once */
  end(ended: Ended, isLate: boolean): void;
  /** Applies what other servers have ordered. @param isUse whether a world that was dropped is made again */
  follow(isUse: boolean): Promise<void>;
  /** A connection of this server waits for what happens in the world. */
  listen(): void;
  /** Whether something is on its way. */
  readonly isBusy: boolean;
  /** Resolves once everything that was ordered is kept, and a state from which the world is quickly read again. */
  flush(): Promise<void>;
  close(reason: DropReason): void;
}

/** How a command came to this server. */
export interface How {
  /** Whether it is from this server, and whether it came for the first time. */
  readonly isOwn: boolean;
  readonly isNews: boolean;
  /** Whether somebody on this server waits for its outcome. */
  readonly isAwaited: boolean;
}

/** How a world was read again from its store. */
export interface Reopened extends Opened {
  /** Whether it was not dropped meanwhile. */
  readonly isSame: boolean;
  /** Whether it has commands that this server has not seen and will not see. */
  readonly isSkipped: boolean;
}

/** Called with what happens in worlds. */
export interface WorldObserver {
  settled(worldId: string, change: Change): void;
  /** A command that nobody waits for has failed, which is a bug. */
  failed(worldId: string, error: unknown): void;
  dropped(worldId: string, reason: DropReason): void;
  /** A store has come back without it, or with older data. */
  lost(worldId: string): void;
}

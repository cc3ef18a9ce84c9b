import { ScenarioSource } from '../contract/snapshot.ts';
import { z } from 'zod';
import type { EndedJournal, RefereeSettings } from '../contract/conduct.ts';
import { WorldName } from '../contract/control.ts';
import { State } from '../contract/service.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { StateEvent } from './events.ts';
import { Ended, RefusedCommand, REQUEST_COMMANDS } from './request/request-commands.ts';
import type { ReleaseOrder, WorldState } from './state-shape.ts';

/** The commands of a world. Each is one atomic step, and plain data. */

/** A command that continues an earlier part is void once the world was reset or restored. */
const Generation = z.int().nullable();

export const Command = z.discriminatedUnion('kind', [
  ...REQUEST_COMMANDS,
  RefusedCommand,
  /** Requests have ended. */
  z.strictObject({ kind: z.literal('end'), ends: z.array(Ended).readonly() }),
  z.strictObject({ kind: z.literal('credit'), amountPaise: z.int().min(1) }),
  z.strictObject({ kind: z.literal('debit'), amountPaise: z.int().min(1) }),
  z.strictObject({ kind: z.literal('transition'), txnId: z.string(), to: State }),
  /** Applies the steps that are due, and does nothing else. */
  z.strictObject({ kind: z.literal('settle') }),
  z.strictObject({
    kind: z.literal('advance'),
    move: z.union([
      z.strictObject({ byMs: z.int().min(0) }),
      z.strictObject({ toMs: z.int() }),
      z.strictObject({ until: z.literal('idle') }),
    ]),
    generation: Generation,
  }),
  z.strictObject({ kind: z.literal('speed'), speed: z.number().min(0) }),
  /** Chooses a scenario for the world; without `isChosen`, the world follows the server's again. */
  z.strictObject({ kind: z.literal('choose'), source: ScenarioSource, isChosen: z.boolean() }),
  /** The scenario of the server has changed, for a world that follows it. */
  z.strictObject({ kind: z.literal('follow'), source: ScenarioSource }),
  z.strictObject({
    kind: z.literal('putRule'),
    rule: z.record(z.string(), z.unknown()),
    last: z.boolean().optional(),
  }),
  /** @param name null for all overrides */
  z.strictObject({ kind: z.literal('removeRule'), name: z.string().nullable() }),
  z.strictObject({ kind: z.literal('release'), id: z.int(), order: z.custom<ReleaseOrder>() }),
  z.strictObject({ kind: z.literal('name'), name: WorldName }),
  /** Clears the list of requests, since its client wants that; or drops the older half, since its memory is needed. */
  z.strictObject({ kind: z.literal('forget'), as: z.enum(['cleared', 'evicted']) }),
  /** Takes back the latest control action. Requests since then refuse that, unless it is forced. */
  z.strictObject({ kind: z.literal('undo'), action: z.int().optional(), isForced: z.boolean() }),
  /** Forgets what can be undone. */
  z.strictObject({ kind: z.literal('forgetUndo') }),
  z.strictObject({ kind: z.literal('endHold'), id: z.int(), how: z.enum(['expired', 'left']) }),
  /** Replaces the settings of the referee for this world, its reports on ended journals, or both. */
  z.strictObject({
    kind: z.literal('referee'),
    settings: z.custom<RefereeSettings>().optional(),
    ended: z.custom<readonly EndedJournal[]>().optional(),
  }),
  /** Starts the world again. @param source the scenario of the server */
  z.strictObject({ kind: z.literal('reset'), source: ScenarioSource }),
]);

/** Replaces the whole world with a state that was read and checked outside it, which becomes its own. */
export const RestoreCommand = z.strictObject({
  kind: z.literal('restore'),
  state: z.custom<WorldState>(),
  /** Whether a running clock continues from the snapshot's time, or has kept running since. */
  clock: z.enum(['from-snapshot', 'ran-on']),
});
type RestoreCommand = z.infer<typeof RestoreCommand>;

export type Command = z.infer<typeof Command> | RestoreCommand;
type CommandsByKind = { [Kind in Command['kind']]: Extract<Command, { readonly kind: Kind }> };
export type CommandOf<Kind extends Command['kind']> = CommandsByKind[Kind];

/** How much a world may hold, as its server counts it. */
export const Room = z.object({
  /** SANDBOX_MAX_TRANSACTIONS, and how many of them the world may hold. */
  maxTransactions: z.number(),
  transactions: z.number(),
  /** How many requests the world remembers at least. */
  keep: z.number(),
  /** How many more rules all worlds together may have: SANDBOX_MAX_RULES. */
  rulesFree: z.number(),
});
export type Room = Readonly<z.infer<typeof Room>>;

/** What the server and its log add to a command. */
export interface Stamp {
  readonly server: string;
  /** Its place among the commands of its world, counted from 1. */
  readonly position: number;
  /** Wall time, ms since the epoch. */
  readonly wallMs: number;
  readonly room: Room;
}

/** Handles a kind of command. It changes the state, and adds what happens to the events of the context. */
export type Handler<Kind extends Command['kind'], Result = void> = (
  state: WorldState,
  command: CommandOf<Kind>,
  context: Context,
) => Result;

export interface Context {
  readonly stamp: Stamp;
  /** How many more transactions the world may hold. */
  readonly transactionsFree: number;
  readonly compiler: ScenarioCompiler;
  /** How many due steps may still be applied. */
  budget: number;
  readonly events: StateEvent[];
}

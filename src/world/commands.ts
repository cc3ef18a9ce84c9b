import { z } from 'zod';
import { State } from '../contract/service.ts';
import { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { StateEvent } from './events.ts';
import { REQUEST_COMMANDS } from './request/request-commands.ts';
import type { ReleaseOrder } from './request/request-result.ts';
import type { WorldState } from './state.ts';

/** What is asked of a world. Each command is one atomic step, and plain data. */

/** A command that continues what it began is void once the world was reset or restored. */
const Generation = z.int().nullable();

export const Command = z.discriminatedUnion('kind', [
  ...REQUEST_COMMANDS,
  z.strictObject({ kind: z.literal('credit'), amountPaise: z.int().min(1) }),
  z.strictObject({ kind: z.literal('debit'), amountPaise: z.int().min(1) }),
  z.strictObject({ kind: z.literal('transition'), txnId: z.string(), to: State }),
  /** Applies what is due, and nothing else. */
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
  z.strictObject({ kind: z.literal('freeze') }),
  z.strictObject({ kind: z.literal('resume') }),
  /** Gives the world the clock that its scenario starts with. */
  z.strictObject({ kind: z.literal('resetClock'), generation: Generation }),
  /** The world chooses a scenario; or, not `isChosen`, follows that of the server again. */
  z.strictObject({ kind: z.literal('choose'), source: ScenarioSource, isChosen: z.boolean() }),
  /** The scenario of the server has changed, for a world that follows it. */
  z.strictObject({ kind: z.literal('follow'), source: ScenarioSource }),
  z.strictObject({ kind: z.literal('putRule'), rule: z.record(z.string(), z.unknown()) }),
  /** @param name null for all rules on top */
  z.strictObject({ kind: z.literal('removeRule'), name: z.string().nullable() }),
  /** Lets a held request go on. */
  z.strictObject({ kind: z.literal('release'), id: z.int(), order: z.custom<ReleaseOrder>() }),
  /** Ends a hold without releasing its request. */
  z.strictObject({ kind: z.literal('endHold'), id: z.int(), how: z.enum(['expired', 'left']) }),
  /** Starts the world again. @param source the scenario of the server */
  z.strictObject({ kind: z.literal('reset'), source: ScenarioSource }),
]);

/** Puts a state that was read and checked beside the world in the place of all that it is. */
export interface RestoreCommand {
  readonly kind: 'restore';
  readonly state: WorldState;
  /** Whether a running clock goes on from the snapshot's own time, or has run on since. */
  readonly clock: 'from-snapshot' | 'ran-on';
}

export type Command = z.infer<typeof Command> | RestoreCommand;
/** Whether a command ends what the world was, its journal too. */
export const isReplacing = ({ kind }: Command): boolean => kind === 'reset' || kind === 'restore';

/** Whether somebody uses the world by a command. The others are what a server does by itself, or to look at a world. */
export const isUse = ({ kind }: Command): boolean => kind !== 'settle' && kind !== 'follow';

export type CommandOf<Kind extends Command['kind']> = Extract<Command, { readonly kind: Kind }>;

/** What the server adds to a command when it submits it. */
export interface Stamp {
  /** Wall time, ms since the epoch. */
  readonly wallMs: number;
  /** SANDBOX_MAX_TRANSACTIONS, and how many more all worlds together may hold. */
  readonly maxRecords: number;
  readonly recordsFree: number;
  /** How many more attempts all worlds together may count. */
  readonly attemptsFree: number;
  /** How many more bytes the scenarios and rules of all worlds together may take: SANDBOX_SCENARIO_MEMORY. */
  readonly documentBytesFree: number;
}

/** What a command is applied with. */
export interface Context {
  readonly stamp: Stamp;
  readonly compiler: ScenarioCompiler;
  /** How many due steps may still be applied. */
  readonly budget: number;
  /** What happens is added to it. */
  readonly events: StateEvent[];
}

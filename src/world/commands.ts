import { z } from 'zod';
import { State } from '../contract/service.ts';
import { ScenarioSource } from '../contract/snapshot-lines.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { StateEvent } from './events.ts';
import { REQUEST_COMMANDS } from './request/request-commands.ts';
import type { ReleaseOrder } from './request/request-result.ts';
import type { WorldState } from './state.ts';

/** The commands of a world. Each is one atomic step, and plain data. */

/** A command that continues an earlier part is void once the world was reset or restored. */
const Generation = z.int().nullable();

export const Command = z.discriminatedUnion('kind', [
  ...REQUEST_COMMANDS,
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
  z.strictObject({ kind: z.literal('freeze') }),
  z.strictObject({ kind: z.literal('resume') }),
  /** Gives the world the clock that its scenario starts with. */
  z.strictObject({ kind: z.literal('resetClock'), generation: Generation }),
  /** Chooses a scenario for the world; without `isChosen`, the world follows the server's again. */
  z.strictObject({ kind: z.literal('choose'), source: ScenarioSource, isChosen: z.boolean() }),
  /** The scenario of the server has changed, for a world that follows it. */
  z.strictObject({ kind: z.literal('follow'), source: ScenarioSource }),
  z.strictObject({ kind: z.literal('putRule'), rule: z.record(z.string(), z.unknown()) }),
  /** @param name null for all rules on top */
  z.strictObject({ kind: z.literal('removeRule'), name: z.string().nullable() }),
  /** Releases a held request. */
  z.strictObject({ kind: z.literal('release'), id: z.int(), order: z.custom<ReleaseOrder>() }),
  /** Ends a hold without releasing its request. */
  z.strictObject({ kind: z.literal('endHold'), id: z.int(), how: z.enum(['expired', 'left']) }),
  /** Starts the world again. @param source the scenario of the server */
  z.strictObject({ kind: z.literal('reset'), source: ScenarioSource }),
]);

/** Replaces the whole world with a state that was read and checked outside it. */
export interface RestoreCommand {
  readonly kind: 'restore';
  readonly state: WorldState;
  /** Whether a running clock continues from the snapshot's time, or has kept running since. */
  readonly clock: 'from-snapshot' | 'ran-on';
}

export type Command = z.infer<typeof Command> | RestoreCommand;
/** Whether a command replaces the whole world, including its journal. */
export const isReplacing = ({ kind }: Command): boolean => kind === 'reset' || kind === 'restore';

/** Whether a command is a use of the world. Servers submit the others on their own, or to look at a world. */
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

/** The context in which a command is applied. */
export interface Context {
  readonly stamp: Stamp;
  readonly compiler: ScenarioCompiler;
  /** How many due steps may still be applied. */
  readonly budget: number;
  /** Receives what happens. */
  readonly events: StateEvent[];
}

import { Refusal, type RefusalData } from '../contract/errors.ts';
import type { Payout } from '../payout/payout.ts';
import type { Entry } from '../payout/money.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import type { Command, Stamp } from './commands.ts';
import type { StateEvent } from './events.ts';
import { isMoreDue, settleDue } from './ledger.ts';
import {
  chooseScenario,
  forceTransition,
  moveMoney,
  putRule,
  removeRule,
  resetWorld,
  restoreWorld,
} from './operations.ts';
import { handleRequest, type RequestResult } from './requests.ts';
import { useScenario, type WorldState } from './state.ts';
import {
  advanceClock,
  clockResult,
  type ClockResult,
  freezeClock,
  resetClock,
  resumeClock,
} from './clock.ts';

/** How many due steps one command applies at most: some milliseconds of work. */
export const MAX_STEPS = 2000;

/** The commands that do not depend on what is due: those that replace the state, and one that changes only the scenario. */
const WITHOUT_SETTLING: ReadonlySet<Command['kind']> = new Set(['reset', 'restore', 'follow']);

/** For a command that continues in a world that is not the one it began in. */
const REPLACED_MEANWHILE: RefusalData = {
  code: 'WORLD_REPLACED',
  details: {
    message: 'The world was reset or restored while its clock moved; the clock is that of the new one',
  },
};

/** What each command results in, when nothing is refused. */
interface Results {
  initiate: RequestResult;
  status: RequestResult;
  balance: RequestResult;
  credit: Entry;
  debit: Entry;
  transition: Payout;
  settle: ClockResult;
  advance: ClockResult;
  freeze: ClockResult;
  resume: ClockResult;
  resetClock: ClockResult;
  choose: null;
  follow: null;
  /** The id of the rule: `world/NAME`. */
  putRule: string;
  removeRule: null;
  reset: null;
  restore: null;
}
export type ResultOf<C extends Command> = Results[C['kind']];

/** What a command came to. */
export type Applied = { readonly events: readonly StateEvent[] } & (
  | { readonly kind: 'done'; readonly result: Results[Command['kind']] }
  | { readonly kind: 'refused'; readonly refusal: RefusalData }
  /** More was due than one command may apply: what to submit after others had their turn. */
  | { readonly kind: 'unfinished'; readonly next: Command }
);

/**
 * Applies one command to a world. Deterministic and synchronous: all it needs is in its arguments, and it changes nothing
 * but the state, so every server that applies the same commands arrives at the same state.
 *
 * What is due by the command's time happens first, at most `MAX_STEPS` steps.
 *
 * @returns what it came to. A refused command has changed nothing but what was due; an `unfinished` one has moved the clock
 */
export function apply(
  state: WorldState,
  command: Command,
  stamp: Stamp,
  compiler: ScenarioCompiler,
): Applied {
  const events: StateEvent[] = [];
  if ('generation' in command && command.generation !== null && command.generation !== state.generation) {
    return { kind: 'refused', refusal: REPLACED_MEANWHILE, events };
  }
  state.wallMs = Math.max(state.wallMs, stamp.wallMs); // never backwards
  if (!WITHOUT_SETTLING.has(command.kind)) {
    for (const change of settleDue(state, MAX_STEPS)) events.push({ type: 'settlement', change });
    if (isMoreDue(state)) return { kind: 'unfinished', next: command, events };
  }
  try {
    const result = handle(state, command, stamp, compiler, MAX_STEPS - events.length, events);
    return typeof result === 'object' && result !== null && 'next' in result
      ? { kind: 'unfinished', next: result.next, events }
      : { kind: 'done', result, events };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'refused', refusal: error.data, events };
  }
}

/** @param budget how many due steps may still be applied */
function handle(
  state: WorldState,
  command: Command,
  stamp: Stamp,
  compiler: ScenarioCompiler,
  budget: number,
  events: StateEvent[],
): Results[Command['kind']] | ReturnType<typeof advanceClock> {
  switch (command.kind) {
    case 'initiate':
    case 'status':
    case 'balance':
      return handleRequest(state, command, stamp, compiler, events);
    case 'credit':
    case 'debit':
      return moveMoney(state, command, stamp, events);
    case 'transition':
      return forceTransition(state, command, events);
    case 'settle':
      return clockResult(state);
    case 'advance':
      return advanceClock(state, command, budget, events);
    case 'freeze':
      return freezeClock(state, events);
    case 'resume':
      return resumeClock(state, events);
    case 'resetClock':
      return resetClock(state, command, budget, events);
    case 'putRule':
      return putRule(state, command, compiler, events);
    case 'choose':
      chooseScenario(state, command, compiler, events);
      return null;
    case 'follow':
      useScenario(state, { source: command.source, isChosen: false }, state.overrides, compiler);
      return null;
    case 'removeRule':
      removeRule(state, command, events);
      return null;
    case 'reset':
      resetWorld(state, command, compiler, events);
      return null;
    case 'restore':
      restoreWorld(state, command, stamp, events);
      return null;
  }
}

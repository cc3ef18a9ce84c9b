import { Refusal, type RefusalData } from '../contract/errors.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { advanceClock, clockResult, setSpeed, type Unfinished } from './clock.ts';
import type { Command, Context, Handler, Stamp } from './commands.ts';
import type { StateEvent } from './events.ts';
import { endHold, expireHeld } from './request/held-requests.ts';
import { announceRisk, endRequests, refuseRequest } from './requests.ts';
import { isMoreDue, settleDue } from './ledger.ts';
import {
  chooseScenario,
  followScenario,
  forceTransition,
  forgetRequests,
  instructReferee,
  moveMoney,
  nameWorld,
  putRule,
  removeRule,
  resetWorld,
  restoreWorld,
} from './operations.ts';
import { commitNext } from './request/late-commit.ts';
import { handleRequest } from './request/serve-request.ts';
import { releaseRequest } from './request/release-request.ts';
import { transactionsHeld } from './state.ts';
import type { WorldState } from './state-shape.ts';
import { forgetUndo, undo, undoable, type Handling } from './undo.ts';

export const isReplacing = ({ kind }: Command): boolean =>
  kind === 'reset' || kind === 'restore' || kind === 'undo';

/** Whether a command is a use of the world. Servers submit the others on their own, or to look at a world. */
export const isUse = ({ kind }: Command): boolean => kind !== 'settle' && kind !== 'follow' && kind !== 'end';

/**
 * How many due steps one command applies at most: a few milliseconds of work, or a few tens while many readers get an event
 * for each. Commands in a store are applied again later, so this must be the same on all servers.
 */
export const MAX_STEPS = 1000;

/** The commands before which nothing is settled: those that replace the state, or leave the ledger as it is. */
const WITHOUT_SETTLING: ReadonlySet<Command['kind']> = new Set([
  'reset',
  'restore',
  'follow',
  'refused',
  'end',
  'forget',
  'name',
  'referee',
  'undo',
  'forgetUndo',
]);

const HANDLERS = {
  initiate: handleRequest,
  status: handleRequest,
  balance: handleRequest,
  refused: refuseRequest,
  end: endRequests,
  forget: forgetRequests,
  name: nameWorld,
  referee: instructReferee,
  credit: moveMoney,
  debit: moveMoney,
  transition: forceTransition,
  settle: clockResult,
  advance: advanceClock,
  speed: setSpeed,
  choose: chooseScenario,
  follow: followScenario,
  putRule,
  removeRule,
  release: releaseRequest,
  endHold,
  reset: resetWorld,
  restore: restoreWorld,
  undo,
  forgetUndo,
} satisfies { [Kind in Command['kind']]: Handler<Kind, unknown> };

/** What a command results in, when nothing is refused. */
export type ResultOf<C extends Command> = Exclude<ReturnType<(typeof HANDLERS)[C['kind']]>, Unfinished>;

/** The outcome of a command. */
export type Applied = { readonly events: readonly StateEvent[] } &
  /** @property action the number of the control action that it has begun, if it has */
  (
    | { readonly kind: 'done'; readonly result: ResultOf<Command>; readonly action: number | undefined }
    | { readonly kind: 'refused'; readonly refusal: RefusalData }
    /** More was due than one command may apply: `next` continues it, after other work has had its turn. */
    | { readonly kind: 'unfinished'; readonly next: Command; readonly action?: number | undefined }
  );

/**
 * Applies one command to a world. It is deterministic and synchronous: every server that applies the same commands arrives
 * at the same state. Steps that are due by the command's time are applied first; a refused command changes nothing else.
 */
export function apply(
  state: WorldState,
  command: Command,
  stamp: Stamp,
  compiler: ScenarioCompiler,
): Applied {
  const events: StateEvent[] = [];
  const context = {
    stamp,
    compiler,
    events,
    budget: MAX_STEPS,
    transactionsFree: stamp.room.transactions - transactionsHeld(state),
  };
  const before = { ...state.index.atRisk };
  const outcome = applyCommand(state, command, context);
  announceRisk(state, before, events);
  state.eventCount += events.length;
  return outcome;
}

/** Not the function itself, so that few files run for a request without late commits. */
const commitDue: typeof commitNext = (...given) => commitNext(...given);

function applyCommand(state: WorldState, command: Command, context: Context): Applied {
  const { stamp, events } = context;
  try {
    if ('generation' in command && (command.generation ?? state.generation) !== state.generation) {
      throw replacedMeanwhile();
    }
    state.wallMs = Math.max(state.wallMs, stamp.wallMs); // never backwards
    if (state.held.waiting.length > 0) expireHeld(state, events);
    if (!WITHOUT_SETTLING.has(command.kind)) {
      context.budget -= settleDue(state, context.budget, context, commitDue);
      if (context.budget === 0 && isMoreDue(state)) return { kind: 'unfinished', next: command, events };
    }
    const handle = HANDLERS[command.kind] as Handling<ResultOf<Command> | Unfinished>;
    const isContinued = 'generation' in command && command.generation !== null;
    const name = isContinued ? undefined : ACTIONS[command.kind];
    const action = name === undefined ? undefined : stamp.position;
    const result =
      name === undefined ? handle(state, command, context) : undoable(name, handle, state, command, context);
    return typeof result === 'object' && 'next' in result
      ? { kind: 'unfinished', next: result.next, events, action }
      : { kind: 'done', result, events, action };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { kind: 'refused', refusal: error.data, events };
  }
}

/** The control actions that can be undone, and their names. */
const ACTIONS: Readonly<Partial<Record<Command['kind'], string>>> = {
  advance: 'advance',
  speed: 'speed',
  credit: 'credit',
  debit: 'debit',
  transition: 'transition',
  choose: 'scenario',
  putRule: 'rule',
  removeRule: 'rule removal',
  reset: 'reset',
  restore: 'restore',
};

const replacedMeanwhile = (): Refusal =>
  new Refusal('WORLD_REPLACED', {
    message: 'The world was reset or restored while its clock moved; the clock is that of the new one',
  });

import { Refusal } from '../contract/errors.ts';
import { documentCharacters } from '../scenario/rule.ts';
import type { ScenarioCompiler } from '../scenario/scenario.ts';
import { apply, applyEnds } from '../world/apply.ts';
import type { Command, Stamp } from '../world/commands.ts';
import { freeze, thaw, type FrozenState } from '../world/copy.ts';
import type { StateEvent } from '../world/events.ts';
import { requestCharacters } from '../world/journal/exchange.ts';
import type { Action, WorldState } from '../world/state.ts';
import { placeOf, type Reading } from './connections/event-reader.ts';
import { when, type Logged, type MaybePromise, type Place } from './store.ts';
import type { LogParts } from './world-parts.ts';

/** How many actions can be undone at least. */
const UNDONE = 10;
/** A server that stops keeps the state of a world with so many commands since the latest one. */
const KEPT_AT_STOP = 1000;
const COMMANDS_AT_ONCE = 50;
const CHARACTERS_A_COMMAND = 1000;
const CHARACTERS_A_PAYOUT = 500;

/** About how many characters a command has. A scenario of the server is not copied, so it does not count. */
function charactersOf(command: Command): number {
  if ('request' in command) return requestCharacters(command.request);
  const isOwn = command.kind === 'putRule' || (command.kind === 'choose' && command.isChosen);
  return CHARACTERS_A_COMMAND + (isOwn ? documentCharacters(command) : 0);
}

type PastDeps = Pick<LogParts, 'store' | 'compiler' | 'wallClock'>;

/** A world as it is now, and its place in its log. */
interface Present {
  readonly state: WorldState;
  readonly epoch: string;
  readonly place: Place;
}

/** A state that the world had, and the commands since. */
interface Earlier {
  readonly state: WorldState;
  readonly later: readonly Logged[];
}

/** A state that commands can change, made from a frozen one with turns for other work in between. */
export async function thawed(
  frozen: FrozenState,
  { compiler, wallClock }: Pick<PastDeps, 'compiler' | 'wallClock'>,
): Promise<WorldState> {
  const steps = thaw(frozen, compiler);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await wallClock.yieldToEventLoop();
  }
}

/** What one world was: made again from a state that was kept, and the commands after it. */
export class Past {
  /** The position of the latest state from which the log can be followed. */
  latest: number;
  readonly #worldId: string;
  readonly #deps: PastDeps;
  /** The earliest position from which it can be made again. */
  #earliest: number;
  /** About how many characters all its commands had, and had had when each state was kept. */
  #logged = 0;
  #loggedAt: { readonly position: number; readonly characters: number }[];

  constructor(worldId: string, deps: PastDeps, position: number) {
    this.#worldId = worldId;
    this.#deps = deps;
    this.latest = position;
    this.#earliest = position;
    this.#loggedAt = [{ position, characters: 0 }];
  }

  /** Counts a command. @param replaced the payouts of the state that it has replaced, which are kept with that */
  logged(command: Command, replaced: number): void {
    this.#logged += charactersOf(command) + replaced * CHARACTERS_A_PAYOUT;
  }

  /** About how many characters it takes: of commands, and of states before resets and restores. */
  get characters(): number {
    return this.#logged - this.#loggedAt[0]!.characters;
  }

  /**
   * Keeps a state as one from which the log can be followed. The commands since the latest such state stay, for readers of events
   * that resume, and those since the actions that can be undone.
   */
  keep(present: Present): MaybePromise<void> {
    const { actions } = present.state;
    const action = actions.at(-UNDONE) ?? actions[0];
    return this.#keep(present, Math.min(this.latest, (action?.position ?? Infinity) - 1));
  }

  /** Keeps the present state for the next server, if that would have to apply many commands. */
  keepLatest(present: Present): MaybePromise<void> {
    if (present.place.position - this.latest >= KEPT_AT_STOP) return this.keep(present);
  }

  /** Keeps nothing but the present state. */
  forget(present: Present): MaybePromise<void> {
    return this.#keep(present, present.place.position);
  }

  #keep({ state, epoch, place }: Present, oldest: number): MaybePromise<void> {
    const frozen = freeze(state);
    const kept = (earliest: number): void => {
      this.#earliest = earliest;
      this.#loggedAt = this.#loggedAt.filter(({ position }) => position >= earliest);
    };
    this.latest = place.position;
    this.#loggedAt.push({ position: place.position, characters: this.#logged });
    const base = { ...place, state: () => frozen };
    return when(this.#deps.store.compact(this.#worldId, epoch, base, oldest), kept);
  }

  /** The latest control action, and the state before it. @throws Refusal UNDO_REFUSED without one */
  async beforeAction(present: Present): Promise<{ action: Action; state: WorldState }> {
    const action = present.state.actions.at(-1);
    if (action === undefined) throw new Refusal('UNDO_REFUSED');
    const past = await this.#after(present.epoch, action.position - 1);
    if (past === null) {
      const message = `What this world was before its last ${action.name} is no longer stored`;
      throw new Refusal('UNDO_REFUSED', { message });
    }
    const { state, later } = past;
    for (const { stamp } of later) applyEnds(state, stamp, this.#deps.compiler); // requests that it had by then have ended since
    return { action, state };
  }

  /** The state after a command, and the later ones; null when the log does not reach back to it. */
  async #after(epoch: string, position: number): Promise<Earlier | null> {
    const history = await this.#deps.store.history(this.#worldId, epoch, position);
    if (history === null) return null;
    const { base, commands } = history;
    const state = await thawed(base.state(), this.#deps);
    await this.#replay(
      state,
      commands.filter((logged) => logged.position <= position),
    );
    return { state, later: commands.filter((logged) => logged.position > position) };
  }

  /** Tells a reader what happened since an event, up to now; or `missed` where the log does not reach back. */
  async catchUp(reading: Reading, afterId: string, { epoch, place }: Present): Promise<void> {
    const { position: last } = place;
    const after = placeOf(afterId, epoch, last);
    if (after !== null && after.position === last && after.index === Infinity) return;
    const start = after?.index === Infinity ? after.position : Math.max(0, (after?.position ?? 0) - 1);
    const known = after === null ? null : await this.#after(epoch, start);
    const from = known === null || after === null ? { position: this.#earliest, index: Infinity } : after;
    if (known === null) reading.miss(epoch, from.position);
    const past = known ?? (await this.#after(epoch, from.position));
    if (past === null) return reading.miss(epoch, last);
    const later = past.later.filter(({ position }) => position <= last);
    const happened = ({ position }: Logged, events: readonly StateEvent[]): MaybePromise<void> =>
      position < from.position ? undefined : reading.catchUp(epoch, position, events, from);
    await this.#replay(past.state, later, happened);
  }

  /** Applies commands again, to a state of their own. */
  async #replay(
    state: WorldState,
    commands: readonly Logged[],
    happened: (logged: Logged, events: readonly StateEvent[]) => MaybePromise<void> = () => undefined,
  ): Promise<void> {
    const { compiler, wallClock } = this.#deps;
    for (const [nth, logged] of commands.entries()) {
      if (nth % COMMANDS_AT_ONCE === COMMANDS_AT_ONCE - 1) await wallClock.yieldToEventLoop();
      const { command, stamp } = logged;
      const again =
        command.kind === 'restore'
          ? { ...command, state: await thawed(command.state, this.#deps) } // the world has taken over its index
          : command;
      await happened(logged, eventsOf(state, again, stamp, compiler));
    }
  }
}

/** Applies a command again. One that failed before fails again, and its client was told so. */
function eventsOf(
  state: WorldState,
  command: Command,
  stamp: Stamp,
  compiler: ScenarioCompiler,
): readonly StateEvent[] {
  try {
    return apply(state, command, stamp, compiler).events;
  } catch {
    return [];
  }
}

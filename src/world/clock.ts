import { LATEST_MS } from '../contract/service.ts';
import type { ClockState } from '../contract/snapshot.ts';
import { Refusal } from '../contract/errors.ts';
import { iso } from '../contract/times.ts';
import { invariant } from '../payout/money.ts';
import type { CommandOf, Context, Handler } from './commands.ts';
import type { StateEvent } from './events.ts';
import { isMoreDue, nextDueMsOf, settleDue } from './ledger.ts';
import { commitNext } from './request/late-commit.ts';
import { clockFrom, nowMs } from './state.ts';
import type { WorldState } from './state-shape.ts';

const pastTheEnd = (): Refusal =>
  new Refusal('INVALID_REQUEST', { message: 'The clock of a world ends with the year 9999' });

export const clockResult = (state: WorldState) => ({
  nowMs: nowMs(state),
  speed: state.clock.speed,
  /** World time of the next step that waits for its time; null when there is none that the clock can reach. */
  nextDueMs: nextDueMsOf(state),
});
export type ClockResult = Readonly<ReturnType<typeof clockResult>>;

/** A clock command that could not apply everything that is due is submitted again as `next`, after other work has had its turn. */
export interface Unfinished {
  readonly next: CommandOf<'advance'>;
}

/** Has the clock go on from its time at another speed. @throws Refusal INVALID_REQUEST at the end of the year 9999 */
export const setSpeed: Handler<'speed', ClockResult> = (state, { speed }, { events }) => {
  const atMs = nowMs(state);
  if (speed > 0 && atMs >= LATEST_MS) throw pastTheEnd();
  return setClock(state, clockFrom(atMs, state.wallMs, speed), events);
};

/** Moves the clock forward, and applies the steps that come due. @throws Refusal INVALID_REQUEST for a time in the past */
export const advanceClock: Handler<'advance', ClockResult | Unfinished> = (state, command, context) => {
  const { move } = command;
  const { generation } = state;
  if ('until' in move) return advanceUntilIdle(state, { ...command, generation }, context);
  const { budget, events } = context;
  const fromMs = nowMs(state);
  if ('toMs' in move && move.toMs < fromMs) {
    const now = iso(fromMs);
    throw new Refusal('INVALID_REQUEST', {
      message: `The clock never goes backwards: it is ${now}`,
      errors: [{ field: 'to', message: `to must not be before ${now}` }],
    });
  }
  moveBy(state, 'byMs' in move ? move.byMs : move.toMs - fromMs);
  settleDue(state, budget, context, commitNext);
  if (isMoreDue(state)) return { next: { kind: 'advance', move: { byMs: 0 }, generation } };
  return setClock(state, state.clock, events);
};

/** Advances from due step to due step, until none is left before the end of the year 9999. */
function advanceUntilIdle(state: WorldState, next: CommandOf<'advance'>, context: Context) {
  const { budget, events } = context;
  for (let left = budget; ;) {
    left -= settleDue(state, left, context, commitNext);
    if (isMoreDue(state)) return { next };
    const dueMs = nextDueMsOf(state);
    if (dueMs === null) return setClock(state, state.clock, events);
    moveBy(state, dueMs - nowMs(state));
  }
}

/** Gives the world another clock. */
export function setClock(state: WorldState, clock: ClockState, events: StateEvent[]): ClockResult {
  state.clock = clock;
  const result = clockResult(state);
  events.push({ type: 'clock', nowMs: result.nowMs, speed: result.speed });
  return result;
}

/** Moves the clock forward, as fast as it was. @throws Refusal INVALID_REQUEST beyond the year 9999 */
function moveBy(state: WorldState, byMs: number): void {
  invariant(Number.isSafeInteger(byMs) && byMs >= 0, 'a clock moves forward by whole ms');
  const toMs = nowMs(state) + byMs;
  if (toMs > LATEST_MS) throw pastTheEnd();
  state.clock = clockFrom(toMs, state.wallMs, state.clock.speed);
}

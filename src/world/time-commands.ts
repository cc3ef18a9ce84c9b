import { LATEST_MS } from '../contract/snapshot-lines.ts';
import { advancedClock, frozenClock, inThePast, resumedClock, worldTimeMs, wouldGoBack } from './clock.ts';
import type { CommandOf } from './commands.ts';
import type { StateEvent } from './events.ts';
import { isMoreDue, nextDueMsOf, settleDue } from './ledger.ts';
import { isFrozen, isUntouched, nowMs, openLedger, type WorldState } from './state.ts';

/** The clock of a world, after a command. */
export interface ClockResult {
  readonly nowMs: number;
  readonly isFrozen: boolean;
  /** World time of the next step that waits for its time; null when nothing is planned. */
  readonly nextDueMs: number | null;
}

export const clockResult = (state: WorldState): ClockResult => ({
  nowMs: nowMs(state),
  isFrozen: isFrozen(state),
  nextDueMs: nextDueMsOf(state),
});

/** A clock command that could not apply all that is due is submitted again as `next`, after others had their turn. */
export interface Unfinished {
  readonly next: CommandOf<'advance' | 'resetClock'>;
}

export function freezeClock(state: WorldState, events: StateEvent[]): ClockResult {
  state.clock = frozenClock(nowMs(state));
  return changedClock(state, events);
}

/** @throws Refusal INVALID_REQUEST at the end of the year 9999 */
export function resumeClock(state: WorldState, events: StateEvent[]): ClockResult {
  state.clock = resumedClock(nowMs(state), state.wallMs);
  return changedClock(state, events);
}

/**
 * Moves the clock forward, and applies what comes due on the way.
 *
 * @param budget how many due steps may be applied
 * @throws Refusal INVALID_REQUEST for a time in the past or beyond the year 9999
 */
export function advanceClock(
  state: WorldState,
  command: CommandOf<'advance'>,
  budget: number,
  events: StateEvent[],
): ClockResult | Unfinished {
  const { move } = command;
  const { generation } = state;
  if ('until' in move) return advanceUntilIdle(state, { ...command, generation }, budget, events);
  if ('toMs' in move && move.toMs < nowMs(state)) throw inThePast(nowMs(state));
  moveBy(state, 'byMs' in move ? move.byMs : move.toMs - nowMs(state));
  settle(state, budget, events);
  if (isMoreDue(state)) return { next: { kind: 'advance', move: { byMs: 0 }, generation } };
  return changedClock(state, events);
}

/** Goes on to each next due step, until nothing is planned, or only beyond the end of the year 9999. */
function advanceUntilIdle(
  state: WorldState,
  next: CommandOf<'advance'>,
  budget: number,
  events: StateEvent[],
): ClockResult | Unfinished {
  for (let left = budget; ;) {
    left -= settle(state, left, events);
    if (isMoreDue(state)) return { next };
    const dueMs = nextDueMsOf(state);
    if (dueMs === null || dueMs > LATEST_MS) return changedClock(state, events);
    moveBy(state, dueMs - nowMs(state));
  }
}

/**
 * Gives the world the clock that its scenario starts with. What comes due on the way happens first.
 *
 * @throws Refusal CLOCK_BACKWARDS when that clock is behind, and something has happened to the wallet
 */
export function resetClock(
  state: WorldState,
  command: CommandOf<'resetClock'>,
  budget: number,
  events: StateEvent[],
): ClockResult | Unfinished {
  const { clock } = state.index.base;
  const toMs = worldTimeMs(clock, state.wallMs);
  if (toMs < nowMs(state)) {
    if (!isUntouched(state)) throw wouldGoBack(nowMs(state), toMs);
    state.clock = clock;
    openLedger(state, state.openingBalancePaise);
    return changedClock(state, events);
  }
  moveBy(state, toMs - nowMs(state));
  settle(state, budget, events);
  if (isMoreDue(state)) return { next: { ...command, generation: state.generation } };
  state.clock = clock;
  return changedClock(state, events);
}

function moveBy(state: WorldState, byMs: number): void {
  state.clock = advancedClock(state.clock, byMs, state.wallMs);
}

/** @returns how many steps were applied */
function settle(state: WorldState, limit: number, events: StateEvent[]): number {
  const changes = settleDue(state, limit);
  for (const change of changes) events.push({ type: 'settlement', change });
  return changes.length;
}

function changedClock(state: WorldState, events: StateEvent[]): ClockResult {
  const result = clockResult(state);
  events.push({ type: 'clock', nowMs: result.nowMs, isFrozen: result.isFrozen });
  return result;
}

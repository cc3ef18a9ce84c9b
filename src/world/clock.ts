import { Refusal } from '../contract/errors.ts';
import { LATEST_MS, type ClockState } from '../contract/snapshot-lines.ts';
import { invariant } from '../payout/invariant.ts';

/** A clock that runs with wall time. */
export const runningClock: ClockState = { frozenAtMs: null, aheadMs: 0 };

/** A clock that is frozen at `atMs`. */
export const frozenClock = (atMs: number): ClockState => ({ frozenAtMs: atMs });

/**
 * World time, in ms since the epoch, when it is `wallMs` outside. A running clock stops at the end of the year 9999,
 * the last that a timestamp of the interface can show.
 */
export const worldTimeMs = (clock: ClockState, wallMs: number): number =>
  clock.frozenAtMs === null ? Math.min(wallMs + clock.aheadMs, LATEST_MS) : clock.frozenAtMs;

/** The wall time at which a running world reaches `worldMs`; null when it is frozen, or never gets there. */
export const wallTimeMs = (clock: ClockState, worldMs: number): number | null =>
  clock.frozenAtMs === null && worldMs <= LATEST_MS ? worldMs - clock.aheadMs : null;

/** The clock at another world time, frozen or running as it was. */
export const clockAt = (clock: ClockState, worldMs: number, wallMs: number): ClockState =>
  clock.frozenAtMs === null ? { frozenAtMs: null, aheadMs: worldMs - wallMs } : frozenClock(worldMs);

/**
 * Lets a clock run on from `nowMs`.
 *
 * @throws Refusal INVALID_REQUEST at the end of the year 9999
 */
export function resumedClock(nowMs: number, wallMs: number): ClockState {
  if (nowMs >= LATEST_MS) throw pastTheEnd();
  return { frozenAtMs: null, aheadMs: nowMs - wallMs };
}

/**
 * Moves a clock forward, frozen or running as it was.
 *
 * @param byMs whole ms, 0 or more
 * @throws Refusal INVALID_REQUEST beyond the end of the year 9999
 */
export function advancedClock(clock: ClockState, byMs: number, wallMs: number): ClockState {
  invariant(Number.isSafeInteger(byMs) && byMs >= 0, 'a clock moves forward by whole ms');
  const toMs = worldTimeMs(clock, wallMs) + byMs;
  if (toMs > LATEST_MS) throw pastTheEnd();
  return clockAt(clock, toMs, wallMs);
}

const pastTheEnd = (): Refusal =>
  new Refusal('INVALID_REQUEST', { message: 'The clock of a world ends with the year 9999' });

/** Refuses to move a clock to a time before the one that it shows. */
export function inThePast(nowMs: number): Refusal {
  const now = new Date(nowMs).toISOString();
  return new Refusal('INVALID_REQUEST', {
    message: `The clock never goes backwards: it is ${now}`,
    errors: [{ field: 'to', message: `to must not be before ${now}` }],
  });
}

/** Refuses to give a world a clock that is behind its own. */
export function wouldGoBack(nowMs: number, toMs: number): Refusal {
  const [from, to] = [nowMs, toMs].map((ms) => new Date(ms).toISOString());
  return new Refusal('CLOCK_BACKWARDS', {
    message: `The clock of this world would go back from ${from} to ${to}, and its ledger has entries: POST /_sandbox/reset starts the world again`,
  });
}

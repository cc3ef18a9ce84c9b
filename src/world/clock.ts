import { Refusal } from '../contract/errors.ts';
import { invariant } from '../payout/invariant.ts';

/** The last instant that an ISO 8601 timestamp of four-digit years can show. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * A world's own business time, as plain data: ahead of wall time by a fixed distance while it runs, at one
 * instant while it is frozen. It never goes backwards.
 */
export type WorldClock =
  { readonly frozenAtMs: null; readonly aheadMs: number } | { readonly frozenAtMs: number };

/** A clock that runs with wall time. */
export const runningClock: WorldClock = { frozenAtMs: null, aheadMs: 0 };

/** A clock that stands still at `atMs`. */
export const frozenClock = (atMs: number): WorldClock => ({ frozenAtMs: atMs });

/** The world's time, in ms since the epoch, when it is `wallMs` outside. */
export const worldTimeMs = (clock: WorldClock, wallMs: number): number =>
  clock.frozenAtMs === null ? wallMs + clock.aheadMs : clock.frozenAtMs;

export const freeze = (clock: WorldClock, wallMs: number): WorldClock =>
  frozenClock(worldTimeMs(clock, wallMs));

/** Lets the clock run on from where it stands. */
export const resume = (clock: WorldClock, wallMs: number): WorldClock => ({
  frozenAtMs: null,
  aheadMs: worldTimeMs(clock, wallMs) - wallMs,
});

/**
 * Moves the clock forward by `byMs`, running or frozen as it was.
 *
 * @param byMs whole ms, 0 or more
 * @throws Refusal INVALID_REQUEST beyond the year 9999, which no timestamp of the interface can show
 */
export function advance(clock: WorldClock, byMs: number, wallMs: number): WorldClock {
  invariant(Number.isSafeInteger(byMs) && byMs >= 0, 'a clock moves forward by whole ms');
  if (worldTimeMs(clock, wallMs) + byMs > LATEST_MS) {
    throw new Refusal('INVALID_REQUEST', { message: 'The clock of a world ends with the year 9999' });
  }
  return clock.frozenAtMs === null
    ? { frozenAtMs: null, aheadMs: clock.aheadMs + byMs }
    : { frozenAtMs: clock.frozenAtMs + byMs };
}

/** The wall time at which a running world reaches `worldMs`; null when it stands still. */
export const wallTimeMs = (clock: WorldClock, worldMs: number): number | null =>
  clock.frozenAtMs === null ? worldMs - clock.aheadMs : null;

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
    message: `The clock of this world would go back from ${from} to ${to}, and its book is written: POST /_sandbox/reset makes the world as new`,
  });
}

import type { RateLimit } from '../contract/snapshot.ts';
import type { Dialect } from '../contract/dialect.ts';
import { durationText } from '../contract/times.ts';
import { Refusal } from '../contract/errors.ts';
import { counted } from '../contract/words.ts';

/** How many requests a limit in world time has counted in its latest window. */
export interface RateWindow {
  readonly beganMs: number;
  readonly count: number;
}

/** The window of each limit that was used: by the id of the rule, or the name of the scenario, that has the limit. */
export type RateWindows = Map<string, RateWindow>;

/**
 * Counts a request against a limit. A window begins with the first request after the window before it: a client that waits
 * until it ends is never refused.
 *
 * @returns how long the window still lasts, in ms of world time, for a request past the limit; null for one within it
 */
export function countInWindow(
  windows: RateWindows,
  id: string,
  limit: RateLimit,
  nowMs: number,
): number | null {
  const { max, windowMs } = limit;
  const known = windows.get(id);
  const window =
    known === undefined || nowMs >= known.beganMs + windowMs ? { beganMs: nowMs, count: 0 } : known;
  if (window.count >= max) return windowLeftMs(window, limit, nowMs);
  windows.set(id, { ...window, count: window.count + 1 });
  return null;
}

export const windowLeftMs = ({ beganMs }: RateWindow, { windowMs }: RateLimit, nowMs: number): number =>
  beganMs + windowMs - nowMs;

/** The value of Retry-After: whole seconds, rounded up, so that a client that waits this long is not too early. */
export const retryAfterSeconds = (leftMs: number): string => String(Math.ceil(leftMs / 1000));

/**
 * The refusal of a request past a rate limit.
 *
 * @param waitMs until the next request is allowed
 * @param limit the setting that sets the limit
 * @param change how to change it
 */
export function rateLimited(
  { max, windowMs }: RateLimit,
  { rate_limit: { routes, retry_after } }: Dialect,
  waitMs: number,
  limit: string,
  change: string,
): Refusal {
  const what = counted(max, routes === 'all' ? 'request' : 'initiate');
  return new Refusal('RATE_LIMITED', {
    message: `Too many requests: the limit is ${what} per ${durationText(windowMs)} for each key. ${change}`,
    headers: retry_after === 'absent' ? {} : { 'retry-after': retryAfterSeconds(waitMs) },
    limit,
  });
}

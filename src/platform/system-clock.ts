import type { WallClock } from '../worlds/wall-clock.ts';

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1; // what setTimeout can hold: 24.8 days

/** The system's clock. It runs with the machine's monotonic clock, and follows changes of the wall clock only forwards. */
export function systemClock(): WallClock {
  let offsetMs = -Infinity;
  const nowMs = (): number => {
    const wallMs = Date.now(); // read first: a pause before the other reading must not put this clock ahead for good
    const sinceStartMs = performance.now();
    offsetMs = Math.max(offsetMs, wallMs - sinceStartMs);
    return Math.floor(offsetMs + sinceStartMs);
  };
  return {
    nowMs,
    schedule(atMs, callback) {
      const timer = setTimeout(callback, Math.min(Math.max(atMs - nowMs(), 0), LONGEST_TIMEOUT_MS));
      timer.unref();
      return () => clearTimeout(timer);
    },
    nextTurn: (callback) => void setImmediate(callback),
    yieldToEventLoop: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** Milliseconds of a clock that only measures durations. */
export const stopwatchMs = (): number => performance.now();

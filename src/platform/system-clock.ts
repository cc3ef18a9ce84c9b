import type { WallClock } from '../log/wall-clock.ts';

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1; // what setTimeout can hold: 24.8 days

/** The system's clock, held back when it is set to an earlier time. The one place that reads it. */
export function systemClock(): WallClock {
  let latestMs = 0;
  const nowMs = (): number => {
    latestMs = Math.max(latestMs, Date.now());
    return latestMs;
  };
  return {
    nowMs,
    alarm(atMs, ring) {
      const timer = setTimeout(ring, Math.min(Math.max(atMs - nowMs(), 0), LONGEST_TIMEOUT_MS));
      timer.unref();
      return () => clearTimeout(timer);
    },
    letOthersRun: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

/** Milliseconds of a clock that is only good for measuring how long something took. */
export const stopwatchMs = (): number => performance.now();

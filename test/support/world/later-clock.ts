import { clockAt, type WallClock } from '../../../src/worlds/wall-clock.ts';
import { systemClock } from '../../../src/platform/system-clock.ts';

/** The system's clock, which a test can put forward: nothing is called back for the time that is skipped. */
export function laterClock(): { readonly wallClock: WallClock; readonly later: (byMs: number) => void } {
  const clock = systemClock();
  let aheadMs = 0;
  return {
    wallClock: clockAt({ nowMs: () => clock.nowMs() + aheadMs }, clock),
    later: (byMs) => void (aheadMs += byMs),
  };
}

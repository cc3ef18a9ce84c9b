import { durationText } from '../../contract/duration.ts';
import { overlaps, type Call } from '../call.ts';
import { type Check, type Found } from '../check.ts';

/** Checks of how often and how fast a reference is sent again. */

/** Timers may fire a little early, and journals round to milliseconds. */
const TOLERANCE = 0.95;

/** The time from the end of one request to the start of another: in wall time or in world time, whichever is longer. */
const gapMs = (before: Call, after: Call): number =>
  Math.max(after.beganMs - before.endedMs, after.atMs - before.atMs);

export const retryAfterIgnored: Check = {
  id: 'retry-after-ignored',
  severity: 'warning',
  look({ byReference }) {
    const findings: Found[] = [];
    let hadOccasion = false;
    for (const [reference, calls] of byReference) {
      let tooSoon: readonly [Call, Call] | undefined;
      for (const [index, asked] of calls.entries()) {
        if (asked.retryAfterMs === null || asked.wasLeft) continue;
        hadOccasion = true;
        const again = calls
          .slice(index + 1)
          .find((call) => call.route === asked.route && !overlaps(asked, call));
        if (again === undefined || gapMs(asked, again) >= asked.retryAfterMs * TOLERANCE) continue;
        tooSoon = [asked, again];
        break;
      }
      if (tooSoon === undefined) continue;
      const [asked, again] = tooSoon;
      const waited = durationText(Math.max(Math.round(gapMs(asked, again)), 0));
      findings.push({
        message: `${reference} was sent again after ${waited}, and the answer ${asked.status} asked for ${durationText(asked.retryAfterMs!)}`,
        instead: 'wait as long as Retry-After says before the same reference is sent again',
        calls: [asked, again],
      });
    }
    return { hadOccasion, findings };
  },
};

const FEWEST_REPEATS = 3;
const GROWTH = 1.5;

/** Timers and journals round to milliseconds. */
const ROUNDING_MS = 1;

/** A send of a reference by the client's own choice, because the send before it had no outcome. */
interface Repeat {
  readonly before: Call;
  readonly call: Call;
  /** From the end of the send before it; in world time where the test moves the clock. */
  readonly pauseMs: number;
}

/** Pauses that the service asked for, with Retry-After, are not the client's choice. */
function repeatsIn(sends: readonly Call[]): readonly Repeat[] {
  return sends.slice(1).flatMap((call, index) => {
    const before = sends[index]!;
    if (before.seen.kind === 'state' || before.retryAfterMs !== null || overlaps(before, call)) return [];
    const tookMs = before.endedMs - before.beganMs;
    return {
      before,
      call,
      pauseMs: Math.max(call.beganMs - before.endedMs, call.atMs - before.atMs - tookMs),
    };
  });
}

/** Judges the shape, not the length, since tests shrink delays. Pauses may stop growing at a maximum. */
function isGrowing(pausesMs: readonly number[]): boolean {
  const half = Math.floor(pausesMs.length / 2);
  return Math.max(...pausesMs.slice(-half)) > GROWTH * Math.min(...pausesMs.slice(0, half)) + ROUNDING_MS;
}

export const noBackoff: Check = {
  id: 'no-backoff',
  severity: 'notice',
  look({ sends }) {
    const findings: Found[] = [];
    let hadOccasion = false;
    for (const [reference, all] of sends) {
      const repeats = repeatsIn(all);
      if (repeats.length < FEWEST_REPEATS) continue;
      hadOccasion = true;
      if (isGrowing(repeats.map(({ pauseMs }) => pauseMs))) continue;
      findings.push({
        message: `${reference} was sent ${repeats.length + 1} times without a growing pause`,
        instead: 'double the pause after each send, and add some randomness',
        calls: [repeats[0]!.before, ...repeats.slice(0, FEWEST_REPEATS).map(({ call }) => call)],
      });
    }
    return { hadOccasion, findings };
  },
};

export const endlessRetry: Check = {
  id: 'endless-retry',
  severity: 'warning',
  look({ sends, limits }) {
    const findings: Found[] = [];
    for (const [reference, calls] of sends) {
      if (calls.length <= limits.sends) continue;
      findings.push({
        message: `${reference} was sent ${calls.length} times; at most ${limits.sends} are allowed`,
        instead: 'stop after some sends, keep the reference, and leave the payout to a later run or a person',
        calls: [calls[0]!, calls.at(-1)!],
      });
    }
    return { hadOccasion: [...sends.values()].some((calls) => calls.length > 1), findings };
  },
};

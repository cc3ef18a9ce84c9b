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

const FEWEST_SENDS = 4;
const GROWTH = 1.5;

/** In world time where the test moves the clock between sends, otherwise in wall time. */
function gapsBetween(sends: readonly Call[]): readonly number[] {
  const gapsOf = (began: (call: Call) => number): readonly number[] =>
    sends.slice(1).map((call, index) => began(call) - began(sends[index]!));
  const inWorldTime = gapsOf(({ atMs }) => atMs);
  return inWorldTime.some((gap) => gap > 0) ? inWorldTime : gapsOf(({ beganMs }) => beganMs);
}

/** The shape counts and not the length, since tests shrink delays. */
function isGrowing(gaps: readonly number[]): boolean {
  const half = Math.floor(gaps.length / 2);
  return Math.max(...gaps.slice(-half)) > GROWTH * Math.max(...gaps.slice(0, half));
}

/** The longest row of sends that were not overlapping, each of which came because the one before it had no outcome. */
const repeats = (sends: readonly Call[]): readonly Call[] =>
  sends.filter(({ seen }, index) => {
    const before = sends[index - 1];
    return index === 0
      ? seen.kind !== 'state'
      : before!.seen.kind !== 'state' && !overlaps(before!, sends[index]!);
  });

export const noBackoff: Check = {
  id: 'no-backoff',
  severity: 'notice',
  look({ sends }) {
    const findings: Found[] = [];
    let hadOccasion = false;
    for (const [reference, all] of sends) {
      const calls = repeats(all);
      if (calls.length < FEWEST_SENDS) continue;
      hadOccasion = true;
      if (isGrowing(gapsBetween(calls))) continue;
      findings.push({
        message: `${reference} was sent ${calls.length} times without a growing pause`,
        instead: 'double the pause after each send, and add some randomness',
        calls: calls.slice(0, FEWEST_SENDS),
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

import { timeText } from '../../contract/times.ts';
import { overlaps, type Call } from '../call.ts';
import type { Case } from '../case.ts';
import { evaluateEach, type Check } from '../check.ts';

/** Checks of how often and how fast a payout is sent or asked for again, and how long its client waits for a response. */

/** Timers may fire a little early. */
const TOLERANCE = 0.95;
/** Timers and journals round to milliseconds. */
const ROUNDING_MS = 1;
/** Clocks that differ by less than this run together. */
const TOGETHER_MS = 50;

/** World time from the start of one request to that of another, in ms that the client may have waited: less on a faster clock. */
const worldMsBetween = ({ speed }: Case, before: Call, after: Call): number =>
  (after.atMs - before.atMs) / speed;

/** The time from the end of one request to the start of another: in world time, where a test stopped or moved the clock for longer. */
export function pauseBetween(facts: Case, before: Call, after: Call): number {
  const wallMs = Math.max(after.beganMs - before.endedMs, 0); // a busy server notices the end of a request late
  const worldMs = worldMsBetween(facts, before, after);
  const movedMs = worldMs - (after.beganMs - before.beganMs);
  return Math.abs(movedMs) <= TOGETHER_MS ? wallMs : Math.max(wallMs, worldMs);
}

/** What the sends of one intended payout are called: its reference, or the first of several. */
export function payoutName(calls: readonly Call[]): string {
  const references = new Set(calls.map(({ reference }) => reference));
  const [first] = references;
  return references.size < 2 ? String(first) : `the payout of ${first} (${references.size} references)`;
}

/** The sends of each intended payout, and the reads of each reference. */
function* rows({ tries, byReference }: Case): Generator<readonly Call[]> {
  yield* tries.values();
  for (const calls of byReference.values()) yield calls.filter(({ route }) => route === 'status');
}

export const retryAfterIgnored: Check = {
  severity: 'warning',
  evaluate: (facts) =>
    evaluateEach(rows(facts), (calls) => {
      let result: null | undefined;
      for (const [index, asked] of calls.entries()) {
        const { retryAfter } = asked;
        if (retryAfter === null || asked.wasLeft) continue;
        let next = index + 1;
        while (next < calls.length && overlaps(asked, calls[next]!)) next += 1;
        const again = calls[next];
        if (again === undefined) continue; // whoever does not come back has not waited either
        result = null;
        const pauseMs = retryAfter.isDate
          ? worldMsBetween(facts, asked, again)
          : pauseBetween(facts, asked, again);
        if (pauseMs + ROUNDING_MS >= retryAfter.ms * TOLERANCE) continue;
        const what = `${again.route === 'status' ? 'read' : 'sent'} again`;
        const when = retryAfter.isDate
          ? `${timeText(retryAfter.ms - pauseMs)} before the date in the Retry-After of the ${asked.status}`
          : `after ${timeText(pauseMs)}; Retry-After of the ${asked.status} was ${timeText(retryAfter.ms)}`;
        return {
          message: `${payoutName([asked, again])} was ${what} ${when}`,
          fix: `wait as long as Retry-After says before the same payout is ${what}`,
          calls: [asked, again],
        };
      }
      return result;
    }),
};

export const endlessRetry: Check = {
  severity: 'warning',
  evaluate: ({ tries, limits }) =>
    evaluateEach(tries.values(), (calls) => {
      if (calls.length < 2) return undefined;
      if (calls.length <= limits.sends) return null;
      return {
        message: `${payoutName(calls)} was sent ${calls.length} times; the limit is ${limits.sends}`,
        fix: 'stop after some sends, keep the reference, and leave the payout to a later run or a person',
        calls: [calls[0]!, calls.at(-1)!],
      };
    }),
};

/** Faults that end a connection without a whole response. */
const BROKEN: ReadonlySet<string | null> = new Set(['connection-reset', 'empty-response', 'truncated-body']);
/** What resends by itself does not wait. A busy machine may take some time to send; the shortest usual pause of a program is 100 ms. */
const AT_ONCE_MS = 90;

const bytesOf = ({ entry: { request } }: Call): string => JSON.stringify(request.body);

export const resentByTransport: Check = {
  severity: 'notice',
  evaluate: ({ sends }) =>
    evaluateEach(sends, ([reference, calls]) => {
      for (const [index, call] of calls.entries()) {
        const before = calls[index - 1];
        if (before === undefined || !BROKEN.has(before.entry.fault) || bytesOf(before) !== bytesOf(call))
          continue;
        const { range, 'user-agent': agent } = call.entry.request.headers;
        const pauseMs = call.beganMs - before.endedMs;
        if (range === undefined && pauseMs >= AT_ONCE_MS) continue;
        const [how, byWhom] =
          range === undefined
            ? [
                `${timeText(pauseMs)} after its connection broke`,
                `by the HTTP library, a proxy, or a program that pauses for less than ${AT_ONCE_MS} ms`,
              ]
            : ['with Range', 'probably by the HTTP library or a proxy, not the program'];
        return {
          message: `${reference} was sent again ${how} (user-agent ${typeof agent === 'string' ? agent : 'unknown'}), ${byWhom}`,
          fix: 'unless the program sent it, switch off what resends a POST: that is safe only where the service replays a repeated reference',
          calls: [before, call],
        };
      }
      return calls.some(({ entry }) => BROKEN.has(entry.fault)) ? null : undefined;
    }),
};

const responseKey = ({ seen, status }: Call): string =>
  `${status} ${seen.kind} ${seen.kind === 'state' ? seen.state : ''}`;

/** A read that came this long after the one before, in world time, is no part of a storm: tests shorten real pauses. */
const SELDOM_MS = 600_000;

/** The first run of reads with the same response, one soon after the other, that is longer than the limit. */
function stormIn(facts: Case, reads: readonly Call[]): readonly Call[] | undefined {
  const limit = facts.limits.reads;
  let row: Call[] = [];
  for (const read of reads) {
    const before = row.at(-1);
    const isSame =
      before !== undefined &&
      responseKey(before) === responseKey(read) &&
      worldMsBetween(facts, before, read) < SELDOM_MS;
    if (!isSame && row.length > limit) return row;
    if (isSame) row.push(read);
    else row = [read];
  }
  return row.length > limit ? row : undefined;
}

function fixFor({ seen }: Call): string {
  const state = seen.kind === 'state' ? seen.state : null;
  if (state === 'FAILED' || state === 'REVERSED') return `${state} is final: stop asking once it is seen`;
  if (state === 'SUCCESS')
    return 'stop asking once SUCCESS is seen, and ask again on later days: only a reversal can follow';
  return 'poll less and less often while nothing changes, and stop after some reads until a later run';
}

export const pollStorm: Check = {
  severity: 'warning',
  evaluate: (facts) =>
    evaluateEach(facts.byReference, ([reference, calls]) => {
      const reads = calls.filter(({ route }) => route === 'status');
      if (reads.length === 0) return undefined;
      const storm = stormIn(facts, reads);
      if (storm === undefined) return null;
      return {
        message: `${reference} was read ${storm.length} times with the same response`,
        fix: fixFor(storm[0]!),
        calls: [storm[0]!, storm.at(-1)!],
      };
    }),
};

export const noTimeout: Check = {
  severity: 'warning',
  evaluate: ({ calls, limits: { patience }, wallNowMs }) =>
    evaluateEach(calls, (call) => {
      const { fault, delay_ms } = call.entry;
      const untilMs = call.endedMs === Infinity ? wallNowMs : call.endedMs; // one that is under way has waited until now
      if (untilMs === null) return undefined;
      const waited = untilMs - call.beganMs;
      if (waited > patience) {
        return {
          message: `waited ${timeText(waited)} for a response; the limit is ${timeText(patience)}`,
          fix: 'give every request a timeout, and treat what it cuts off as an unknown outcome',
          calls: [call],
        };
      }
      // a client that left before its patience ended has a timeout of its own
      const isSlow = fault === 'slow-body' || (delay_ms ?? 0) > patience;
      return fault === 'hang' || (isSlow && call.wasLeft) ? null : undefined;
    }),
};

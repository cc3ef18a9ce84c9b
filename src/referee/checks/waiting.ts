import { timeText } from '../../contract/times.ts';
import type { Call } from '../call.ts';
import type { Case } from '../case.ts';
import { evaluateEach, type Check } from '../check.ts';
import { worldMsBetween } from './retries.ts';

/** Checks of how a client asks and waits. */

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
        message: `${reference} was asked for ${storm.length} times with the same response`,
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

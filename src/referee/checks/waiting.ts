import { timeText } from '../../contract/duration.ts';
import type { Call } from '../call.ts';
import { evaluateEach, type Check } from '../check.ts';

/** Checks of how a client asks and waits. */

const responseKey = ({ seen, status }: Call): string =>
  `${status} ${seen.kind} ${seen.kind === 'state' ? seen.state : ''}`;

/** A read that came this long after the one before, in world time, is no part of a storm: tests shorten real pauses. */
const SELDOM_MS = 600_000;

/** The first run of reads with the same response, one soon after the other, that is longer than the limit. */
function stormIn(reads: readonly Call[], limit: number): readonly Call[] | undefined {
  let row: Call[] = [];
  for (const read of reads) {
    const before = row.at(-1);
    const isSame =
      before !== undefined &&
      responseKey(before) === responseKey(read) &&
      read.atMs - before.atMs < SELDOM_MS;
    if (!isSame && row.length > limit) return row;
    if (isSame) row.push(read);
    else row = [read];
  }
  return row.length > limit ? row : undefined;
}

const FIRST_READ_MS = 90_000;
const WINDOW_MS = 2 * 3_600_000;
const READS_IN_WINDOW = 3;

/** What the NPCI's advice forbids: a read within 90 s of initiate, or a fourth within two hours. */
function againstAdvice(
  sent: Call | undefined,
  reads: readonly Call[],
): readonly [string, ...Call[]] | undefined {
  // a client may look for an earlier run of its own before it sends
  const first = reads.find(({ place }) => sent !== undefined && place > sent.place);
  if (sent !== undefined && first !== undefined && first.atMs - sent.atMs < FIRST_READ_MS) {
    return ['was first asked for less than 90 s after it was sent', sent, first];
  }
  const fourth = reads.findIndex(
    (read, index) => index >= READS_IN_WINDOW && read.atMs - reads[index - READS_IN_WINDOW]!.atMs < WINDOW_MS,
  );
  if (fourth === -1) return undefined;
  return ['was asked for more than 3 times within 2 h', ...reads.slice(fourth - READS_IN_WINDOW, fourth + 1)];
}

export const pollStorm: Check = {
  severity: 'warning',
  evaluate: ({ byReference, sends, limits }) =>
    evaluateEach(byReference, ([reference, calls]) => {
      const reads = calls.filter(({ route }) => route === 'status');
      if (reads.length === 0) return undefined;
      const storm = stormIn(reads, limits.reads);
      const against =
        storm === undefined
          ? limits.polling === 'npci' && againstAdvice(sends.get(reference)?.[0], reads)
          : ([
              `was asked for ${storm.length} times with the same response`,
              storm[0]!,
              storm.at(-1)!,
            ] as const);
      if (!against) return null;
      const [message, ...evidence] = against;
      return {
        message: `${reference} ${message}`,
        fix: 'poll less and less often while nothing changes, and stop after some reads until a later run',
        calls: evidence,
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

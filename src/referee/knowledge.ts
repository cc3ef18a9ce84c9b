import type { State } from '../contract/service.ts';
import { overlaps, type Call } from './call.ts';

/** What a client knows about one reference, and the request that it learned it from. */
export interface Knowledge {
  readonly of: State | 'nothing' | 'refused' | 'unknown' | 'not-found';
  readonly from: Call | null;
}

const NOTHING: Knowledge = { of: 'nothing', from: null };

/** A later state is never replaced by an earlier one, which a stale read may show. */
const RANK: Readonly<Record<State, number>> = { PENDING: 1, SUCCESS: 2, FAILED: 2, REVERSED: 3 };

const rankOf = (of: Knowledge['of']): number => RANK[of as State] ?? 0;

/** Whether the client knows no more than that this send, or another one, was still under way when it repeated it. */
const wasUnderWay = ({ from }: Knowledge, { id }: Call): boolean =>
  from?.entry.code === 'REQUEST_IN_PROGRESS' && id < from.id;

/** What the client knows after one more response about the reference. */
function learn(before: Knowledge, call: Call): Knowledge {
  const { seen } = call;
  const { of, from } = before;
  // a payout of its own, whatever came before; a read that was sent since then may have shown more of it
  const isAnother = call.committed === true && from !== null && from.id < call.id;
  switch (seen.kind) {
    case 'state':
      return isAnother || rankOf(seen.state) >= rankOf(of) ? { of: seen.state, from: call } : before;
    case 'unknown':
      if (call.route !== 'initiate') return before;
      return isAnother || rankOf(of) === 0 ? { of: 'unknown', from: call } : before;
    case 'refused':
      // a refused repetition says nothing about the send before it
      return call.route === 'initiate' && (of === 'nothing' || wasUnderWay(before, call))
        ? { of: 'refused', from: call }
        : before;
    case 'not-found':
      return of === 'unknown' || of === 'PENDING' || of === 'not-found'
        ? { of: 'not-found', from: call }
        : before;
    default:
      return before;
  }
}

/** The sandbox may notice late that a client left a request, so such a request counts from where it began. */
const answeredAfter = ({ wasLeft, id, endedAfter }: Call): number => (wasLeft ? id : endedAfter);

/** In the order in which the client got the responses. */
export const asAnswered = (calls: readonly Call[]): readonly Call[] =>
  calls.toSorted((a, b) => answeredAfter(a) - answeredAfter(b) || a.endedMs - b.endedMs || a.id - b.id);

/** A request, and what its client knew after the response. */
interface Lesson {
  readonly call: Call;
  readonly known: Knowledge;
  /** When the last of the requests up to here that the client left was seen to end. */
  readonly leftUntilMs: number;
}

/** What a client has learned about a reference, response by response. */
function lessonsOf(calls: readonly Call[]): readonly Lesson[] {
  let [known, leftUntilMs] = [NOTHING, 0];
  return asAnswered(calls).map((call) => {
    known = learn(known, call);
    if (call.wasLeft) leftUntilMs = Math.max(leftUntilMs, call.endedMs);
    return { call, known, leftUntilMs };
  });
}

/** Those about each list of requests, since many questions are asked about one. */
const LESSONS = new WeakMap<readonly Call[], readonly Lesson[]>();

function knownLessons(calls: readonly Call[]): readonly Lesson[] {
  const lessons = LESSONS.get(calls) ?? lessonsOf(calls);
  LESSONS.set(calls, lessons);
  return lessons;
}

/** What a client knows at the end. @param calls those about one reference */
export const knownAtEnd = (calls: readonly Call[]): Knowledge => knownLessons(calls).at(-1)?.known ?? NOTHING;

/** What a client knew when it sent a request: from the responses about a reference that it had by then. */
export function knownBefore(calls: readonly Call[], request: Call): Knowledge {
  const lessons = knownLessons(calls);
  const end = indexWhere(lessons, ({ call }) => answeredAfter(call) >= request.id);
  // from here on, some that the client left may still have been under way
  const open = Math.min(
    end,
    indexWhere(lessons, ({ leftUntilMs }) => leftUntilMs > request.beganMs),
  );
  const before = lessons[open - 1]?.known ?? NOTHING;
  return lessons
    .slice(open, end)
    .reduce((known, { call }) => (overlaps(call, request) ? known : learn(known, call)), before);
}

/** The index of the first item from which on something is true, or the length: found by halves, since a journal may be long. */
export function indexWhere<Item>(items: readonly Item[], isTrue: (item: Item) => boolean): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (isTrue(items[middle]!)) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** Whether the payout of a reference may have happened, or may still happen: paying again could pay twice. */
export const mayBePaid = ({ of }: Knowledge): boolean =>
  of === 'unknown' || of === 'not-found' || of === 'PENDING' || of === 'SUCCESS';

/** Whether the client knows that the payout of a reference did not end up paid. */
export const isKnownUnpaid = ({ of }: Knowledge): boolean =>
  of === 'refused' || of === 'FAILED' || of === 'REVERSED';

const WORDS: Readonly<Partial<Record<Knowledge['of'], string>>> = {
  refused: 'it was refused',
  unknown: 'outcome unknown',
  'not-found': 'not found by the service',
};

/** `order-7: outcome unknown (#3)` */
export const knowledgeText = (reference: string, { of, from }: Knowledge): string =>
  `${reference}: ${WORDS[of] ?? of}${from === null ? '' : ` (#${from.id})`}`;

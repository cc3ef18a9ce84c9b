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
      return call.route === 'initiate' && of === 'nothing' ? { of: 'refused', from: call } : before;
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

/** What a client knows at the end. @param calls those about one reference */
export const knownAtEnd = (calls: readonly Call[]): Knowledge => asAnswered(calls).reduce(learn, NOTHING);

/** What a client knew when it sent a request: from the responses about a reference that it had by then. */
export const knownBefore = (calls: readonly Call[], request: Call): Knowledge =>
  knownAtEnd(calls.filter((call) => call.id < request.id && !overlaps(call, request)));

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

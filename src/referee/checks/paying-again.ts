import { withoutControls } from '../../world/journal/journal-text.ts';
import type { Call } from '../call.ts';
import { overlaps } from '../call.ts';
import type { Case } from '../case.ts';
import { type Check, type Found, GUESSED, rupees } from '../check.ts';
import { knownBefore, mayBePaid, type Knowledge } from '../knowledge.ts';
import { paidTooOften, undoneState } from './expected-payments.ts';

/** Checks of one intended payout that is sent under several references. */

/** The initiate that could make the payout of a reference: the first that was not refused, or the first of all. */
const openingOf = (sends: readonly Call[]): Call =>
  sends.find(({ seen }) => seen.kind !== 'refused') ?? sends[0]!;

/** The opening initiate of each reference, with its intended payout. */
function* firstSends({ sends, intents }: Case): Generator<{ readonly first: Call; readonly intent: string }> {
  const firsts = [...sends.values()].map(openingOf).toSorted((a, b) => a.place - b.place);
  for (const first of firsts) {
    const intent = intents.of(first);
    if (intent !== null) yield { first, intent };
  }
}

const committedCall = (calls: readonly Call[]): Call | undefined => calls.find(({ committed }) => committed);

/** A guess counts only after an outcome that tempts a client to try again: paying one person the same amount twice is normal. */
const isSuspect = (known: Knowledge, isDeclared: boolean): boolean =>
  isDeclared ? mayBePaid(known) : known.of === 'unknown' || known.of === 'not-found';

function paidAgain(facts: Case): readonly Found[] {
  const { byReference, sends, intents } = facts;
  const earlierOf = new Map<string, Call[]>();
  const findings: Found[] = [];
  for (const { first, intent } of firstSends(facts)) {
    const earlier = earlierOf.get(intent) ?? [];
    earlierOf.set(intent, [...earlier.slice(-50), first]); // the latest references are enough
    for (const { reference } of earlier.toReversed()) {
      if (sends.get(reference!)!.some((send) => send.place < first.place && overlaps(send, first))) continue;
      const known = knownBefore(byReference.get(reference!)!, first);
      if (!isSuspect(known, intents.isDeclared)) continue;
      const [one, other] = [
        committedCall(sends.get(reference!)!),
        committedCall(sends.get(first.reference!)!),
      ];
      const isPaidTwice = one !== undefined && other !== undefined;
      const what = isPaidTwice ? 'pays again what' : 'could pay again what';
      const undone = isPaidTwice ? undoneState(facts, reference!) : null;
      const paid = undone !== null ? 'was to pay' : isPaidTwice ? 'paid' : 'may have paid';
      const unknownTo = undone === null ? '' : ` (${reference} is ${undone}, which the client did not know)`;
      const guessed = intents.isDeclared ? '' : GUESSED;
      findings.push({
        severity: intents.isDeclared ? (isPaidTwice ? 'error' : 'warning') : 'notice',
        message: `${first.reference} ${what} ${reference} ${paid}${amountText(first)}${unknownTo}${guessed}`,
        instead: `read the status of ${reference}, or send ${reference} again`,
        calls: [known.from!, first],
        knew: [reference!, known],
        amountPaise: first.amountPaise,
      });
      break;
    }
  }
  return findings;
}

const amountText = ({ amountPaise }: Call): string =>
  amountPaise === null ? '' : `: ${rupees(amountPaise)}`;

const NO_INTENT =
  'no intent is declared, so another reference for the same payout is recognised only by an identical body';

/** Why the absence of findings proves nothing; null when it proves that each intended payout was sent under one reference. */
function unprovenBy({ sends, intents }: Case): string | null {
  if (!intents.isDeclared) return NO_INTENT;
  const openings = [...sends.values()].map(openingOf);
  const unread = openings.filter((call) => call.seen.kind !== 'refused' && intents.of(call) === null);
  if (unread.length === 0) return null;
  const references = unread.length === 1 ? '1 reference' : `${unread.length} references`;
  return `the intent matches nothing in ${references}, such as ${withoutControls(unread[0]!.reference!)}, whose intended payout is not known`;
}

export const paidTwice: Check = {
  id: 'paid-twice',
  severity: 'error',
  look(facts) {
    const { initiates, calls, intents, expect } = facts;
    const again = intents.isDeclared || expect === undefined ? paidAgain(facts) : []; // a table is better than a guess
    const findings = [...again, ...paidTooOften(facts, new Set(again.flatMap(({ calls }) => calls)))];
    return {
      hadOccasion: findings.length > 0 || initiates.some(isTempting) || calls.some(isNotFound),
      findings,
      unproven: expect === undefined ? unprovenBy(facts) : null,
    };
  },
};

const isTempting = ({ seen }: Call): boolean => seen.kind === 'unknown';
const isNotFound = ({ seen, reference }: Call): boolean => seen.kind === 'not-found' && reference !== null;

/** Pairs of initiates of which one began while the other was under way. */
function* pairsAtOnce(initiates: readonly Call[]): Generator<readonly [earlier: Call, later: Call]> {
  let underWay: readonly Call[] = [];
  for (const later of initiates) {
    underWay = underWay.filter((earlier) => earlier.wasLeft || earlier.endedAfter >= later.place);
    for (const earlier of underWay) if (overlaps(earlier, later)) yield [earlier, later];
    underWay = [...underWay.slice(-200), later];
  }
}

export const samePayoutAtOnce: Check = {
  id: 'same-payout-at-once',
  severity: 'error',
  look(facts) {
    const { initiates, intents } = facts;
    const findings: Found[] = [];
    let hadOccasion = false;
    for (const [earlier, later] of pairsAtOnce(initiates)) {
      if (earlier.reference === later.reference) continue;
      hadOccasion = true;
      const intent = intents.of(later);
      if (intent === null || intents.of(earlier) !== intent) continue;
      const guessed = intents.isDeclared ? '' : GUESSED;
      findings.push({
        severity: intents.isDeclared ? 'error' : 'notice',
        message: `${later.reference} was sent for the payout of ${earlier.reference} while that was under way${amountText(later)}${guessed}`,
        instead: `let one worker send one reference for each payout, and store it before the first send`,
        calls: [earlier, later],
        amountPaise: later.amountPaise,
      });
    }
    return { hadOccasion, findings, unproven: unprovenBy(facts) };
  },
};

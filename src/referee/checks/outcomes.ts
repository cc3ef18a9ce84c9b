import type { TransactionAnswer } from '../../contract/control-answers.ts';
import type { Call } from '../call.ts';
import type { Case } from '../case.ts';
import { type Check, type Found, rupees } from '../check.ts';
import { asAnswered, knownAtEnd, type Knowledge } from '../knowledge.ts';
import { undoneState } from './expected-payments.ts';

/** Checks of what the client knows in the end about payouts that it sent. */

const NO_LEDGER = 'without a ledger, the outcome of the payouts is unknown';

const wasCommitted = (calls: readonly Call[]): boolean => calls.some(({ committed }) => committed === true);

const amountOf = (calls: readonly Call[]): number | null =>
  calls.findLast(({ amountPaise }) => amountPaise !== null)?.amountPaise ?? null;

const worth = (paise: number | null): string => (paise === null ? '' : ` (${rupees(paise)})`);

export const neverAsked: Check = {
  id: 'never-asked',
  severity: 'warning',
  look(facts) {
    const { sends, byReference, payouts } = facts;
    const findings: Found[] = [];
    let hadOccasion = false;
    for (const [reference, initiates] of sends) {
      const calls = byReference.get(reference)!;
      if (!initiates.some(({ seen }) => seen.kind === 'unknown')) continue;
      hadOccasion = true;
      const last = asAnswered(calls).at(-1)!; // an initiate, unless the client asked after it
      // a 429 says nothing about the send before it
      if (last.route !== 'initiate' || (last.seen.kind !== 'unknown' && last.status !== 429)) continue;
      const known = knownAtEnd(calls);
      if (known.of !== 'unknown') continue;
      if (payouts.get(reference)?.status === 'PENDING') continue; // there is still time to ask
      const isCommitted = wasCommitted(initiates);
      const amountPaise = isCommitted ? amountOf(initiates) : null;
      const undone = undoneState(facts, reference);
      const became = undone === null ? 'was paid' : `is ${undone}`;
      findings.push({
        message: isCommitted
          ? `${reference} ${became}${worth(amountPaise)}, and the client never found out`
          : `the outcome of ${reference} was unknown, and the client never asked for it`,
        instead: `read the status of ${reference}, or send ${reference} again, until the outcome is known`,
        calls: [last],
        knew: [reference, known],
        amountPaise,
      });
    }
    return { hadOccasion, findings };
  },
};

export const notFoundBelieved: Check = {
  id: 'not-found-believed',
  severity: 'warning',
  look(facts) {
    const { sends, byReference } = facts;
    const findings: Found[] = [];
    let hadOccasion = false;
    for (const [reference, initiates] of sends) {
      if (!wasCommitted(initiates)) continue;
      const calls = byReference.get(reference)!;
      const made = initiates.find(({ committed }) => committed)!;
      if (!calls.some(({ seen, place }) => seen.kind === 'not-found' && place > made.place)) continue;
      hadOccasion = true;
      const known = knownAtEnd(calls);
      const last = asAnswered(calls).at(-1)!;
      if (known.of !== 'not-found' || last.seen.kind !== 'not-found') continue;
      const amountPaise = amountOf(initiates);
      const undone = undoneState(facts, reference);
      const became = undone === null ? 'was paid' : `exists and is ${undone}`;
      findings.push({
        message: `the client believed that ${reference} does not exist, although it ${became}${worth(amountPaise)}`,
        instead: `keep asking for a while after "not found", or send ${reference} again: never a new reference`,
        calls: [made, last],
        knew: [reference, known],
        amountPaise,
      });
    }
    return { hadOccasion, findings };
  },
};

/** The first request of the client, about anything, after an answer and after a world time. */
const aliveAfter = ({ calls }: Case, last: Call, atMs: number): Call | undefined =>
  calls.find((call) => call.place > last.place && call.atMs > atMs);

/** World time at which a payout reached its state; null for one that is PENDING. */
function reachedMs({ status, timeline }: TransactionAnswer): number | null {
  const at = timeline.findLast(({ done, to }) => done && to === status)?.at ?? null;
  return at === null ? null : Date.parse(at);
}

/** A payout that the client sent, and what it knows of it in the end. */
interface Followed {
  readonly reference: string;
  readonly payout: TransactionAnswer;
  readonly known: Knowledge;
  /** The first request of the client after its payout reached its state; undefined if the client was gone by then. */
  readonly later: () => Call | undefined;
}

function* followed(facts: Case): Generator<Followed> {
  for (const reference of facts.sends.keys()) {
    const payout = facts.payouts.get(reference);
    const reachedAtMs = payout === undefined ? null : reachedMs(payout);
    if (payout === undefined || reachedAtMs === null) continue;
    const calls = facts.byReference.get(reference)!;
    const later = (): Call | undefined => aliveAfter(facts, calls.at(-1)!, reachedAtMs);
    yield { reference, payout, known: knownAtEnd(calls), later };
  }
}

const unprovenWithout = ({ ledger }: Case): string | null => (ledger === null ? NO_LEDGER : null);

export const pendingLeft: Check = {
  id: 'pending-left',
  severity: 'notice',
  look(facts) {
    const settled = [...followed(facts)];
    const findings = settled
      .filter(({ known, later }) => known.of === 'PENDING' && later() !== undefined)
      .map(({ reference, payout, known }): Found => ({
        message: `${reference} is ${payout.status}, and the client last saw it PENDING`,
        instead: `read the status of a PENDING payout until it is SUCCESS, FAILED or REVERSED`,
        calls: [known.from!],
        knew: [reference, known],
      }));
    return { hadOccasion: settled.length > 0, findings, unproven: unprovenWithout(facts) };
  },
};

export const reversalUnseen: Check = {
  id: 'reversal-unseen',
  severity: 'warning',
  look(facts) {
    const reversed = [...followed(facts)].filter(
      ({ payout, known }) =>
        payout.status === 'REVERSED' && (known.of === 'SUCCESS' || known.of === 'REVERSED'),
    );
    const findings = reversed.flatMap(({ reference, known, later }): Found | [] => {
      const next = known.of === 'SUCCESS' ? later() : undefined;
      if (next === undefined) return [];
      const amountPaise = amountOf(facts.sends.get(reference)!);
      return {
        message: `${reference} was reversed${worth(amountPaise)}, and the client still takes it for paid`,
        instead: 'read the status of paid payouts again for some days: a SUCCESS can be REVERSED',
        calls: [known.from!, next],
        knew: [reference, known],
        amountPaise,
      };
    });
    return { hadOccasion: reversed.length > 0, findings, unproven: unprovenWithout(facts) };
  },
};

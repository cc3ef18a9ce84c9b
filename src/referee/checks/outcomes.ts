import { rupeesOf, toInr, toPaise } from '../../payout/money.ts';
import type { TransactionResponse } from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';
import { shortListed } from '../../contract/words.ts';
import { wasCommitted, type Call } from '../call.ts';
import { inGroups, isOut, type Case, type Paid } from '../case.ts';
import { askFor, because, evaluateEach, type Check, type Mistake } from '../check.ts';
import { asAnswered, indexWhere, isKnownUnpaid, knownAtEnd } from '../knowledge.ts';
import { differencesInSteps, madeOrPaid, payoutKey, sendsOf, summed, type Table } from '../payments.ts';
import { inSteps } from '../../world/steps.ts';

/** Checks of what became of payouts in the end: what the client knows of those that it sent, and how often each expected one was paid. */

/** FAILED or REVERSED, for a payout whose money is back; null for one whose money is out. */
export function undoneState({ payouts }: Case, reference: string): State | null {
  const payout = payouts.get(reference);
  return payout === undefined || isOut(payout.status) ? null : payout.status;
}

const amountOf = (calls: readonly Call[]): number | null =>
  calls.findLast(({ amountPaise }) => amountPaise !== null)?.amountPaise ?? null;

const worth = (paise: number | null): string => (paise === null ? '' : ` (${rupeesOf(paise)})`);

const MAY_ASK = 'the client may still read the status of %';
const UNANSWERED = 'the client read the status of %, and never got an outcome';
const DENIED = 'the client was told that % was refused, but it was made';
const ASKED_AGAIN = 'after "not found" the client read % again, and never got an outcome';
const DOUBTED = 'the client read the status of % several times, and got "not found" each time';
const GONE = 'the client sent no more requests after % had settled, last seen PENDING';

/** How many times in a row a client asks that does not believe "not found". What it makes of them, requests do not show. */
const KEPT_ASKING = 3;

/** Whether the client has done nothing to learn the outcome since its last send without one. A refusal of a repetition says nothing about the send before it. */
function isUnasked(calls: readonly Call[]): boolean {
  const answered = asAnswered(calls);
  const last = answered.findLastIndex(({ route, seen }) => route === 'initiate' && seen.kind === 'unknown');
  return !answered.slice(last + 1).some(({ route }) => route === 'status');
}

/** What became of a payout that was made: `was paid`, `was made`, or `is FAILED` */
function becameOf(facts: Case, reference: string, exists = ''): string {
  const undone = undoneState(facts, reference);
  const state = facts.payouts.get(reference)?.status ?? null;
  return undone === null ? `was ${madeOrPaid([{ state }])}` : `${exists}is ${undone}`;
}

export const neverAsked: Check = {
  severity: 'warning',
  isOfOnePayout: true,
  evaluate: (facts) =>
    evaluateEach(facts.sends, ([reference, initiates]) => {
      const calls = facts.byReference.get(reference)!;
      const known = knownAtEnd(calls);
      const isCommitted = wasCommitted(initiates);
      if (known.of === 'refused' && isCommitted) return { why: DENIED, reference };
      if (!initiates.some(({ seen }) => seen.kind === 'unknown')) return undefined;
      if (known.of !== 'unknown') return null;
      if (!isUnasked(calls)) return { why: UNANSWERED, reference };
      const state = facts.payouts.get(reference)?.status ?? 'PENDING';
      if (!facts.clientEnded && state === 'PENDING') return { why: MAY_ASK, reference };
      const amountPaise = isCommitted ? amountOf(initiates) : null;
      return {
        message: isCommitted
          ? `${reference} ${becameOf(facts, reference)}${worth(amountPaise)}, and the client never found out`
          : `the outcome of ${reference} was unknown, and the client did not read its status afterwards`,
        fix: `${askFor(facts, reference)}, until the outcome is known`,
        calls: [known.from!],
        knew: [reference, known],
        amountPaise,
      };
    }),
};

export const notFoundBelieved: Check = {
  severity: 'warning',
  isOfOnePayout: true,
  evaluate: (facts) =>
    evaluateEach(facts.sends, ([reference, initiates]) => {
      const calls = facts.byReference.get(reference)!;
      const made = initiates.find(({ committed }) => committed === true);
      if (made === undefined) return undefined;
      if (!calls.some(({ seen, id }) => seen.kind === 'not-found' && id > made.id)) return undefined;
      const known = knownAtEnd(calls);
      // a refusal of a repetition does not say that the payout exists
      const answers = asAnswered(calls).filter(
        ({ route, seen }) => route === 'status' || seen.kind !== 'refused',
      );
      const last = answers.at(-1)!;
      if (known.of !== 'not-found') return null;
      if (last.seen.kind !== 'not-found') return { why: ASKED_AGAIN, reference };
      if (!facts.clientEnded) return { why: MAY_ASK, reference };
      if (answers.slice(-KEPT_ASKING).every(({ seen }) => seen.kind === 'not-found'))
        return { why: DOUBTED, reference };
      const amountPaise = amountOf(initiates);
      const became = becameOf(facts, reference, 'exists and ');
      return {
        message: `the client believed that ${reference} does not exist, although it ${became}${worth(amountPaise)}`,
        fix: `after "not found" ${askFor(facts, reference)}, for a while: never a new reference`,
        calls: [made, last],
        knew: [reference, known],
        amountPaise,
      };
    }),
};

type Step = TransactionResponse['timeline'][number];

/** The step that brought a payout into its state; undefined for one that is PENDING. */
const lastStep = ({ status, timeline }: TransactionResponse): Step | undefined =>
  timeline.findLast(({ done, to }) => done && to === status);

/** Whether a request, which came after the latest one about its payout, came after this step too. */
function cameAfter({ at, forced, after_request: latest }: Step, { atMs, id }: Call): boolean {
  const stepMs = Date.parse(at!);
  if (atMs !== stepMs) return atMs > stepMs;
  // on a frozen clock: what is due is applied before any request of the same moment, and a test may force a step after some
  return !forced || id > (latest ?? Infinity);
}

/** A payout that the client sent, and what it knows of it in the end; undefined for one that has not settled. */
function followed(facts: Case, reference: string) {
  const payout = facts.payouts.get(reference);
  const step = payout && lastStep(payout);
  if (payout === undefined || step === undefined) return undefined;
  const calls = facts.byReference.get(reference)!;
  const { id } = calls.at(-1)!;
  /** The first request of the client, about anything, after its payout reached its state; undefined if it was gone by then. */
  const later = (): Call | undefined =>
    facts.calls[indexWhere(facts.calls, (call) => call.id > id && cameAfter(step, call))]; // world time never goes back
  return { status: payout.status, known: knownAtEnd(calls), later };
}

/** Whether the client saw a payout in this state at any time. */
const hasSeen = ({ byReference }: Case, reference: string, state: Step['to']): boolean =>
  byReference.get(reference)!.some(({ seen }) => seen.kind === 'state' && seen.state === state);

export const pendingLeft: Check = {
  severity: 'notice',
  evaluate: (facts) =>
    evaluateEach(facts.sends.keys(), (reference) => {
      const payout = followed(facts, reference);
      if (payout === undefined || !hasSeen(facts, reference, 'PENDING')) return undefined;
      const { status, known, later } = payout;
      if (known.of !== 'PENDING') return null;
      // a client that was gone before its payout settled was not tested, however it followed others
      if (later() === undefined) return { why: GONE, reference, isUntested: true };
      if (!facts.clientEnded) return { why: MAY_ASK, reference };
      return {
        message: `${reference} is ${status}, and the client last saw it PENDING`,
        fix: `read the status of a PENDING payout until it is SUCCESS, FAILED or REVERSED`,
        calls: [known.from!],
        knew: [reference, known],
      };
    }),
};

export const reversalUnseen: Check = {
  severity: 'warning',
  evaluate: (facts) =>
    evaluateEach(facts.sends.keys(), (reference) => {
      const payout = followed(facts, reference);
      if (payout?.status !== 'REVERSED' || !hasSeen(facts, reference, 'SUCCESS')) return undefined;
      const { known, later } = payout;
      if (known.of === 'REVERSED') return null;
      const next = known.of === 'SUCCESS' ? later() : undefined;
      if (next === undefined) return undefined; // it took no SUCCESS for final, or was gone before the reversal
      if (!facts.clientEnded) return { why: MAY_ASK, reference };
      const amountPaise = amountOf(facts.sends.get(reference)!);
      return {
        message: `${reference} was reversed${worth(amountPaise)}, and the client still treats it as paid`,
        fix: 'read the status of paid payouts again for some days: a SUCCESS can be REVERSED',
        calls: [known.from!, next],
        knew: [reference, known],
        amountPaise,
      };
    }),
};

/** The payouts whose money is out, by account and amount. */
type PaidGroups = ReadonlyMap<string, readonly Paid[]>;

/** Why it is not known whether the table is met in the end: it depends on payouts that are PENDING; null when it is known. */
function maybeMissed(groups: PaidGroups, expected: Table): string | null {
  const pending = summed(expected).flatMap(({ account, amount, times }) => {
    const made = groups.get(payoutKey({ account, amountPaise: toPaise(amount) })) ?? [];
    const open = made.filter(({ state }) => state === 'PENDING');
    return made.length >= times && made.length - open.length < times ? open : [];
  });
  if (pending.length === 0) return null;
  const names = new Set(pending.map(({ reference }) => reference));
  return `${shortListed([...names])} ${pending.length === 1 ? 'is' : 'are'} still PENDING, and may not end up paid`;
}

const TOO_OFTEN =
  'before a payout is sent again, read its status until that is final; keep its reference unless it was refused, FAILED or REVERSED';
const MISSED =
  'follow each payout until its outcome is known; once it was refused, FAILED or REVERSED, send it again under a new reference';
const KNOWN_UNPAID =
  'the client knows that it was not paid: send it again, after FAILED or REVERSED under a new reference, or correct the table';
const NOT_EXPECTED = 'pay only what the table lists, to that account and in that amount';

/** A payout of the table that was made too few times. @param sends those to its account in its amount */
function missed(facts: Case, sends: readonly Call[], about: Omit<Mistake, 'fix' | 'calls'>): Mistake {
  const reference = sends.at(-1)?.reference ?? null;
  const known = reference === null ? null : knownAtEnd(facts.byReference.get(reference)!);
  const mistake = { ...about, calls: sends };
  if (known === null || !isKnownUnpaid(known)) return { ...mistake, fix: MISSED };
  return { ...mistake, fix: KNOWN_UNPAID, knew: [reference!, known] };
}

export const expectationMissed: Check = {
  severity: 'error',
  isOfOnePayout: true,
  *evaluate(facts) {
    const { expect } = facts;
    if (expect === undefined) return { isExercised: false, findings: [] };
    const sends = yield* inGroups(facts.initiates, ({ body, amountPaise }) =>
      payoutKey({ account: String(body['beneficiary_account']), amountPaise: amountPaise ?? 0 }),
    );
    const groups = yield* inGroups(facts.paid, payoutKey);
    const table = yield* inSteps(groups.values(), (paid) => {
      const [{ account, amountPaise }] = paid as [Paid];
      return { account, amount: toInr(amountPaise), times: paid.length };
    });
    const differences = yield* differencesInSteps(table, expect);
    const { findings, unproven = null } = yield* evaluateEach(differences, (difference) => {
      const { amountPaise, paid, expected, text: message } = difference;
      if (paid > expected) {
        const fix = expected === 0 ? NOT_EXPECTED : TOO_OFTEN;
        const calls = sendsOf(facts, groups.get(payoutKey(difference)) ?? []);
        return { message, fix, calls, amountPaise: amountPaise * (paid - expected) };
      }
      if (!facts.clientEnded) return { why: 'the client may still pay: %', reference: message };
      const about = { message, amountPaise: amountPaise * (expected - paid) };
      return missed(facts, sends.get(payoutKey(difference)) ?? [], about);
    });
    return { isExercised: true, findings, unproven: because(unproven, maybeMissed(groups, expect)) };
  },
};

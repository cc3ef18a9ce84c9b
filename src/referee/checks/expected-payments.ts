import type { TransactionResponse } from '../../contract/control-responses.ts';
import { shortListed } from '../../contract/words.ts';
import type { Call } from '../call.ts';
import { inGroups, isOut, type Case, type Paid } from '../case.ts';
import { because, evaluateEach, type Check, type Mistake } from '../check.ts';
import { isKnownUnpaid, knownAtEnd } from '../knowledge.ts';
import { inSteps } from '../../world/steps.ts';
import { toInr, toPaise } from '../../payout/money.ts';
import { differencesInSteps, payoutKey, sendsOf, summed, type Table } from '../payments.ts';

/** Checks of the payouts that are expected: how often each account is paid each amount. */

type State = TransactionResponse['status'];

/** FAILED or REVERSED, for a payout whose money is back; null for one whose money is out. */
export function undoneState({ payouts }: Case, reference: string): State | null {
  const payout = payouts.get(reference);
  return payout === undefined || isOut(payout.status) ? null : payout.status;
}

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
const NOT_EXPECTED = 'pay only what the table has, to that account and in that amount';

/** A payout of the table that was made too few times. @param sends those to its account in its amount */
function missed(
  facts: Case,
  sends: readonly Call[],
  about: Pick<Mistake, 'message' | 'amountPaise'>,
): Mistake {
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

import type { TransactionResponse } from '../../contract/control-responses.ts';
import { groupedBy, type Case } from '../case.ts';
import type { Check, Mistake } from '../check.ts';
import { differencesBetween, isOut, paidOut, paidTable, payoutKey, sendsOf } from '../payments.ts';

/** Checks of the payouts that are expected: how often each account is paid each amount. */

const MOST_CALLS = 5;

/** FAILED or REVERSED, for a payout whose money is back; null for one whose money is out, and where there is no ledger. */
export function undoneState({ payouts }: Case, reference: string): TransactionResponse['status'] | null {
  const payout = payouts.get(reference);
  return payout === undefined || isOut(payout) ? null : payout.status;
}

/** How the payments differ from the table, each with the sends that made the payments. */
function differences(facts: Case) {
  const paid = paidOut(facts);
  const byKey = groupedBy(paid, ({ account, amountPaise }) => payoutKey(account, amountPaise));
  return differencesBetween(paidTable(paid), facts.comparedWith ?? []).map((difference) => {
    const payouts = byKey.get(payoutKey(difference.account, difference.amountPaise)) ?? [];
    return { difference, calls: sendsOf(facts, payouts) };
  });
}

/** What was paid too many times. @param known references that were found already */
export function paidTooOften(facts: Case, known: ReadonlySet<string>): readonly Mistake[] {
  if (facts.comparedWith === undefined) return [];
  return differences(facts).flatMap(({ difference, calls }): Mistake | [] => {
    const { text, paid, expected, amountPaise } = difference;
    if (paid <= expected || expected === 0) return [];
    const found = calls.filter(({ reference }) => known.has(reference!)).length;
    if (found >= paid - expected) return [];
    return {
      message: text,
      fix: 'keep one reference for each payout, and use it for every send of that payout',
      calls,
      amountPaise: amountPaise * (paid - expected),
    };
  });
}

const MISSED =
  'follow each payout until its outcome is known, and send it again when it was refused or failed';
const NOT_EXPECTED = 'pay only what the table has, to that account and in that amount';

export const expectationMissed: Check = {
  severity: 'error',
  evaluate(facts) {
    if (facts.comparedWith === undefined) return { isExercised: false, findings: [] };
    const toCome: string[] = [];
    const findings = differences(facts).flatMap(({ difference, calls }): Mistake | [] => {
      const { account, amountPaise, paid, expected, text: message } = difference;
      if (paid > expected && expected > 0) return []; // paid-twice finds it
      if (expected === 0) {
        return {
          message,
          fix: NOT_EXPECTED,
          calls: calls.slice(0, MOST_CALLS),
          amountPaise: amountPaise * paid,
        };
      }
      const sends = facts.initiates.filter(
        ({ body, amountPaise: sent }) => body['beneficiary_account'] === account && sent === amountPaise,
      );
      if (!facts.clientEnded) {
        toCome.push(message);
        return [];
      }
      const isOpen = facts.ledger === null && sends.some(({ committed }) => committed === null);
      return {
        message: isOpen ? `${message}, as far as the responses show` : message,
        fix: MISSED,
        calls: sends.slice(0, MOST_CALLS),
        amountPaise: amountPaise * (expected - paid),
      };
    });
    const unproven = toCome.length > 0 ? `the client may still pay: ${toCome[0]}` : null;
    return { isExercised: true, findings, unproven };
  },
};

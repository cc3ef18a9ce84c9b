import type { ExpectedPayout } from '../../contract/conduct.ts';
import type { TransactionAnswer } from '../../contract/control-answers.ts';
import { toPaise } from '../../payout/money.ts';
import type { Call } from '../call.ts';
import type { Case } from '../case.ts';
import { type Check, type Found, rupees } from '../check.ts';

/** Checks of the payouts that are expected: how often each account is paid each amount. */

/** A payout whose money is out. */
interface Paid {
  readonly reference: string;
  readonly account: string;
  readonly amountPaise: number;
}

/** Whether the money of a payout is out. */
export const isOut = ({ status }: TransactionAnswer): boolean => status === 'PENDING' || status === 'SUCCESS';

/** FAILED or REVERSED, for a payout whose money is back; null for one whose money is out, and where there is no ledger. */
export function undoneState({ payouts }: Case, reference: string): TransactionAnswer['status'] | null {
  const payout = payouts.get(reference);
  return payout === undefined || isOut(payout) ? null : payout.status;
}

function paidOut({ ledger, initiates }: Case): readonly Paid[] {
  if (ledger === null) {
    return initiates
      .filter(({ committed, amountPaise }) => committed === true && amountPaise !== null)
      .map(({ reference, body, amountPaise }) => ({
        reference: reference!,
        account: String(body['beneficiary_account']),
        amountPaise: amountPaise!,
      }));
  }
  return ledger.payouts.filter(isOut).map(({ client_ref_id, beneficiary_account, amount }) => ({
    reference: client_ref_id,
    account: beneficiary_account,
    amountPaise: toPaise(amount),
  }));
}

const keyOf = (account: string, amountPaise: number): string => `${amountPaise} ${account}`;

/** Compares what was paid with what is expected: what is too much, what is missing. */
function compare(facts: Case, expect: readonly ExpectedPayout[]) {
  const wanted = new Map<string, { account: string; amountPaise: number; times: number }>();
  for (const { account, amount, times } of expect) {
    const amountPaise = toPaise(amount);
    const key = keyOf(account, amountPaise);
    wanted.set(key, { account, amountPaise, times: times + (wanted.get(key)?.times ?? 0) });
  }
  const paid = new Map<string, Paid[]>();
  for (const payout of paidOut(facts)) {
    const key = keyOf(payout.account, payout.amountPaise);
    const before = paid.get(key);
    if (before === undefined) paid.set(key, [payout]);
    else before.push(payout);
  }
  return { wanted, paid };
}

/** The send that made each payout, or the first of its reference. */
const sendsOf = ({ sends }: Case, payouts: readonly Paid[]): readonly Call[] =>
  payouts.flatMap(({ reference }) => {
    const calls = sends.get(reference) ?? [];
    return calls.find(({ committed }) => committed) ?? calls[0] ?? [];
  });

export const often = (times: number): string =>
  times === 1 ? 'once' : times === 2 ? 'twice' : `${times} times`;

/** What was paid more often than expected. @param known requests that were found already */
export function paidTooOften(facts: Case, known: ReadonlySet<Call>): readonly Found[] {
  if (facts.expect === undefined) return [];
  const { wanted, paid } = compare(facts, facts.expect);
  const findings: Found[] = [];
  for (const [key, { account, amountPaise, times }] of wanted) {
    const payouts = paid.get(key) ?? [];
    const calls = sendsOf(facts, payouts);
    if (payouts.length <= times || times === 0) continue;
    const again = calls.slice(times);
    if (again.length > 0 && again.every((call) => known.has(call))) continue;
    findings.push({
      message: `${account} was paid ${rupees(amountPaise)} ${often(payouts.length)}, and ${often(times)} was expected`,
      instead: 'keep one reference for each payout, and use it for every send of that payout',
      calls,
      amountPaise: amountPaise * (payouts.length - times),
    });
  }
  return findings;
}

export const expectationMissed: Check = {
  id: 'expectation-missed',
  severity: 'error',
  look(facts) {
    const { expect } = facts;
    if (expect === undefined) return { hadOccasion: false, findings: [] };
    const { wanted, paid } = compare(facts, expect);
    const findings: Found[] = [];
    for (const [key, { account, amountPaise, times }] of wanted) {
      const count = paid.get(key)?.length ?? 0;
      if (count >= times) continue;
      const paidSoFar =
        count === 0 ? `not paid ${rupees(amountPaise)}` : `paid ${rupees(amountPaise)} ${often(count)}`;
      const sends = facts.initiates.filter(
        ({ body, amountPaise: sent }) => body['beneficiary_account'] === account && sent === amountPaise,
      );
      findings.push({
        message: `${account} was ${paidSoFar}, and ${often(times)} was expected`,
        instead:
          'follow each payout until its outcome is known, and send it again when it was refused or failed',
        calls: sends.slice(0, 5),
        amountPaise: amountPaise * (times - count),
      });
    }
    for (const [key, payouts] of paid) {
      const times = wanted.get(key)?.times ?? 0;
      if (times > 0) continue;
      const [{ account, amountPaise }] = payouts as [Paid];
      const calls = sendsOf(facts, payouts);
      findings.push({
        message: `${account} was paid ${rupees(amountPaise)}, which was not expected`,
        instead: 'pay only what the table has, to that account and in that amount',
        calls: calls.slice(0, 5),
        amountPaise: amountPaise * payouts.length,
      });
    }
    return { hadOccasion: true, findings };
  },
};

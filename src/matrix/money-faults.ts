import type { ExpectedPayout } from '../contract/conduct.ts';
import { knownAs, paidIn } from '../hunt/goals.ts';
import { toPaise } from '../payout/money.ts';
import { caseOf, type Evidence } from '../referee/case.ts';
import { rupees } from '../referee/check.ts';
import { often } from '../referee/checks/expected-payments.ts';

/** What a client knows of a payout whose money is not out. */
const NOT_PAID = ['refused', 'FAILED', 'REVERSED'] as const;

const isSame = (one: ExpectedPayout, other: ExpectedPayout): boolean =>
  one.account === other.account && one.amount === other.amount;

const timesIn = (paid: readonly ExpectedPayout[], payout: ExpectedPayout): number =>
  paid.find((one) => isSame(one, payout))?.times ?? 0;

/** What ended up paid in all worlds together. */
export const paidInAll = (worlds: readonly Evidence[]): readonly ExpectedPayout[] =>
  paidIn(worlds.flatMap(({ ledger }) => ledger?.payouts ?? []));

/** What both of two runs paid. */
export const paidInBoth = (
  one: readonly ExpectedPayout[],
  other: readonly ExpectedPayout[],
): readonly ExpectedPayout[] =>
  one
    .map((payout) => ({ ...payout, times: Math.min(payout.times, timesIn(other, payout)) }))
    .filter(({ times }) => times > 0);

/**
 * Where the money is not as without failures: what was paid more often, and what a client that ends with success takes for
 * paid although it is not, and nobody told it so. Accounts that are not expected to be paid are not looked at.
 *
 * @param isSuccess whether the client says that all is well
 */
export function moneyFaults(
  worlds: readonly Evidence[],
  expected: readonly ExpectedPayout[],
  isSuccess: boolean,
): readonly string[] {
  const paid = paidInAll(worlds);
  const cases = worlds.map((evidence) => caseOf(evidence, {}));
  return expected.flatMap((payout) => {
    const { account, amount, times } = payout;
    const found = timesIn(paid, payout);
    const inr = rupees(toPaise(amount));
    if (found > times)
      return [`${account} was paid ${inr} ${often(found)}, and ${often(times)} was expected`];
    const told = cases.reduce((sum, facts) => sum + knownAs(facts, payout, NOT_PAID), 0);
    if (!isSuccess || found + told >= times) return [];
    return [`the command ends with success, but ${account} was not paid ${inr}`];
  });
}

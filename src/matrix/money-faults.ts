import type { ExpectedPayout } from '../contract/conduct.ts';
import { knownAs, paidIn } from '../hunt/goals.ts';
import { timesByAccount, timesIn, tooLittleIn, tooMuchIn, type ToBePaid } from '../hunt/to-be-paid.ts';
import { caseOf, type Evidence } from '../referee/case.ts';

/** What a client knows of a payout whose money is not out. */
const NOT_PAID = ['refused', 'FAILED', 'REVERSED'] as const;

/** What ended up paid in all worlds together. */
export const paidInAll = (worlds: readonly Evidence[]): readonly ExpectedPayout[] =>
  paidIn(worlds.flatMap(({ ledger }) => ledger?.payouts ?? []));

/** What both of two runs paid. An account is counted if both paid it equally often, be it in other amounts. */
export function paidInBoth(one: readonly ExpectedPayout[], other: readonly ExpectedPayout[]): ToBePaid {
  const expected = one
    .map((payout) => ({ ...payout, times: Math.min(payout.times, timesIn(other, payout)) }))
    .filter(({ times }) => times > 0);
  const accounts = new Set(expected.map(({ account }) => account));
  const [counts, others] = [timesByAccount(one), timesByAccount(other)];
  const mostTimes = [...counts].filter(
    ([account, times]) => accounts.has(account) && times === others.get(account),
  );
  return { expected, mostTimes: new Map(mostTimes) };
}

/** How the money differs from what is to be paid. Where the client was told that a payout failed, it is not missing. */
export function moneyDifferences(worlds: readonly Evidence[], toBePaid: ToBePaid) {
  const paid = paidInAll(worlds);
  const cases = worlds.map((evidence) => caseOf(evidence, {}));
  const told = (payout: ExpectedPayout): number =>
    cases.reduce((sum, facts) => sum + knownAs(facts, payout, NOT_PAID), 0);
  return {
    tooMuch: tooMuchIn(paid, toBePaid),
    tooLittle: tooLittleIn(paid, toBePaid.expected, told),
  };
}

/**
 * Where the money is not as without failures: what was paid more often, and what a client that ends with success takes for
 * paid although it is not, and nobody told it so. Without a table, accounts that are not expected to be paid are not looked at.
 *
 * @param isSuccess whether the client says that all is well
 */
export function moneyFaults(
  worlds: readonly Evidence[],
  toBePaid: ToBePaid,
  isSuccess: boolean,
): readonly string[] {
  const { tooMuch, tooLittle } = moneyDifferences(worlds, toBePaid);
  const lost = isSuccess ? tooLittle : [];
  return [...tooMuch, ...lost.map((what) => `the command ends with success, but ${what}`)];
}

import type { ExpectedPayout } from '../contract/conduct.ts';
import { knownAs, paidIn } from '../hunt/goals.ts';
import { timesByAccount, timesIn, tooMuchIn, type ToBePaid } from '../hunt/to-be-paid.ts';
import { toPaise } from '../payout/money.ts';
import { caseOf, type Evidence } from '../referee/case.ts';
import { rupees } from '../referee/check.ts';

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

/**
 * Where the money is not as without failures: what was paid more often, and what a client that ends with success takes for
 * paid although it is not, and nobody told it so. Accounts that are not expected to be paid are not looked at.
 *
 * @param isSuccess whether the client says that all is well
 */
export function moneyFaults(
  worlds: readonly Evidence[],
  toBePaid: ToBePaid,
  isSuccess: boolean,
): readonly string[] {
  const paid = paidInAll(worlds);
  const tooMuch = tooMuchIn(paid, toBePaid);
  if (!isSuccess) return tooMuch;
  const cases = worlds.map((evidence) => caseOf(evidence, {}));
  const lost = toBePaid.expected.filter((payout) => {
    const told = cases.reduce((sum, facts) => sum + knownAs(facts, payout, NOT_PAID), 0);
    return timesIn(paid, payout) + told < payout.times;
  });
  return [
    ...tooMuch,
    ...lost.map(
      ({ account, amount }) =>
        `the command ends with success, but ${account} was not paid ${rupees(toPaise(amount))}`,
    ),
  ];
}

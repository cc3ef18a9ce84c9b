import type { ExpectedPayout } from '../contract/conduct.ts';
import { knownAs, paidIn } from '../hunt/goals.ts';
import { timesByAccount, timesIn, tooLittleIn, tooMuchIn, type ToBePaid } from '../hunt/to-be-paid.ts';
import { caseOf, type Evidence } from '../referee/case.ts';

/** What a client knows about a payout that is not paid. */
const NOT_PAID = ['refused', 'FAILED', 'REVERSED'] as const;

/** What ended up paid in all worlds together. */
export const paidInAll = (worlds: readonly Evidence[]): readonly ExpectedPayout[] =>
  paidIn(worlds.flatMap(({ ledger }) => ledger?.payouts ?? []));

/** What both of two runs paid. An account is counted if both paid it equally often, even in different amounts. */
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

/** How the money differs from what is to be paid. A payout that the client knows to have failed is not missing. */
export function moneyDifferences(worlds: readonly Evidence[], toBePaid: ToBePaid) {
  const paid = paidInAll(worlds);
  const cases = worlds.map((evidence) => caseOf(evidence, {}));
  return {
    tooMuch: tooMuchIn(paid, toBePaid),
    tooLittle: tooLittleIn(paid, toBePaid.expected, (payout) => knownAs(cases, payout, NOT_PAID)),
  };
}

/**
 * How the money differs from a run without failures: what was paid too often, and, for a client that ends with success, what is
 * not paid without the client knowing it. Without a table, accounts that are not expected to be paid are ignored.
 *
 * @param countsLost whether missing payouts count, because the client says that everything was paid
 */
export function moneyFaults(
  worlds: readonly Evidence[],
  toBePaid: ToBePaid,
  countsLost: boolean,
): readonly string[] {
  const { tooMuch, tooLittle } = moneyDifferences(worlds, toBePaid);
  const lost = countsLost ? tooLittle : [];
  return [...tooMuch, ...lost.map((what) => `the command ends with success, but ${what}`)];
}

import type { ExpectedPayout } from '../contract/conduct.ts';
import { toPaise } from '../payout/money.ts';
import { rupees } from '../referee/check.ts';
import { often } from '../referee/checks/expected-payments.ts';

/** What a run is to pay. Tables have one line for each account and amount. */
export interface ToBePaid {
  readonly expected: readonly ExpectedPayout[];
  /** How often an account may be paid, in any amounts. Accounts that are not in it are not counted. */
  readonly mostTimes: ReadonlyMap<string, number>;
}

export const timesIn = (
  table: readonly ExpectedPayout[],
  { account, amount }: Pick<ExpectedPayout, 'account' | 'amount'>,
): number => table.find((one) => one.account === account && one.amount === amount)?.times ?? 0;

/** How often each account is paid, in any amounts. */
export function timesByAccount(table: readonly ExpectedPayout[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { account, times } of table) counts.set(account, times + (counts.get(account) ?? 0));
  return counts;
}

/** What was paid too often, as sentences: an amount, or else an account that was paid other amounts besides. */
export function tooMuchIn(
  paid: readonly ExpectedPayout[],
  { expected, mostTimes }: ToBePaid,
): readonly string[] {
  const tooOften = expected.filter((payout) => timesIn(paid, payout) > payout.times);
  const named = new Set(tooOften.map(({ account }) => account));
  const counts = timesByAccount(paid);
  const besides = [...mostTimes].filter(
    ([account, most]) => (counts.get(account) ?? 0) > most && !named.has(account),
  );
  return [
    ...tooOften.map(
      ({ account, amount, times }) =>
        `${account} was paid ${rupees(toPaise(amount))} ${often(timesIn(paid, { account, amount }))}, and ${often(times)} was expected`,
    ),
    ...besides.map(([account, most]) => {
      const amounts = paid.filter((one) => one.account === account).map(({ amount }) => amount);
      const inr = amounts.map((amount) => rupees(toPaise(amount))).join(', ');
      return `${account} was paid ${often(counts.get(account)!)}, and ${often(most)} was expected: ${inr}`;
    }),
  ];
}

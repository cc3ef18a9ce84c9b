import type { ExpectedPayout } from '../contract/conduct.ts';
import { toPaise } from '../payout/money.ts';
import { rupees } from '../referee/check.ts';
import { often } from '../referee/checks/expected-payments.ts';

type Table = readonly ExpectedPayout[];
type Payout = Pick<ExpectedPayout, 'account' | 'amount'>;

/** What a run is to pay. */
export interface ToBePaid {
  /** One line for each account and amount. */
  readonly expected: Table;
  /**
   * How often an account may be paid, in any amounts, as a run without failures has shown; others are not counted. Null when a
   * table lists everything that may be paid.
   */
  readonly mostTimes: ReadonlyMap<string, number> | null;
}

/** A table with one line for each account and amount. */
export function summed(table: Table): Table {
  const lines = new Map<string, ExpectedPayout>();
  for (const { account, amount, times } of table) {
    const key = `${amount} ${account}`;
    lines.set(key, { account, amount, times: times + (lines.get(key)?.times ?? 0) });
  }
  return [...lines.values()];
}

export const timesIn = (table: Table, { account, amount }: Payout): number =>
  table.find((one) => one.account === account && one.amount === amount)?.times ?? 0;

/** How often each account is paid, in any amounts. */
export function timesByAccount(table: Table): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { account, times } of table) counts.set(account, times + (counts.get(account) ?? 0));
  return counts;
}

const paidText = ({ account, amount }: Payout, times: number): string =>
  `${account} was paid ${rupees(toPaise(amount))}${times === 1 ? '' : ` ${often(times)}`}`;

const countText = ({ account, amount }: Payout, found: number, times: number): string =>
  `${account} was paid ${rupees(toPaise(amount))} ${often(found)}, and ${often(times)} was expected`;

/** What was paid too often, as sentences: an amount, or further payments to an account. */
export function tooMuchIn(paid: Table, { expected, mostTimes }: ToBePaid): readonly string[] {
  const tooOften = expected.filter((payout) => payout.times > 0 && timesIn(paid, payout) > payout.times);
  const besides =
    mostTimes === null
      ? paid
          .filter((payout) => timesIn(expected, payout) === 0)
          .map((payout) => `${paidText(payout, payout.times)}, which was not expected`)
      : besidesIn(paid, mostTimes, new Set(tooOften.map(({ account }) => account)));
  return [...tooOften.map((payout) => countText(payout, timesIn(paid, payout), payout.times)), ...besides];
}

/** Accounts that were paid too often, except those that are already named. */
function besidesIn(
  paid: Table,
  mostTimes: ReadonlyMap<string, number>,
  named: ReadonlySet<string>,
): readonly string[] {
  const counts = timesByAccount(paid);
  const accounts = [...mostTimes].filter(
    ([account, most]) => (counts.get(account) ?? 0) > most && !named.has(account),
  );
  return accounts.map(([account, most]) => {
    const amounts = paid.filter((one) => one.account === account).map(({ amount }) => amount);
    const inr = amounts.map((amount) => rupees(toPaise(amount))).join(', ');
    return `${account} was paid ${often(counts.get(account)!)}, and ${often(most)} was expected: ${inr}`;
  });
}

/**
 * What was paid too few times, as sentences.
 *
 * @param told how many of the missing payouts of this account and amount the client knows not to be paid
 */
export const tooLittleIn = (
  paid: Table,
  expected: Table,
  told: (payout: Payout & { readonly missing: number }) => number,
): readonly string[] =>
  expected
    .filter((payout) => {
      const missing = payout.times - timesIn(paid, payout);
      return missing > 0 && told({ ...payout, missing }) < missing;
    })
    .map((payout) => {
      const found = timesIn(paid, payout);
      if (found > 0) return countText(payout, found, payout.times);
      return `${payout.account} was not paid ${rupees(toPaise(payout.amount))}`;
    });

/** The most differences from a table that a message has. */
const MOST_DIFFERENCES = 5;

/** Why a table cannot be used to judge. @param name its name in messages */
export function tableFault(name: string, differences: readonly string[]): string {
  const left = differences.length - MOST_DIFFERENCES;
  const shown = [...differences.slice(0, MOST_DIFFERENCES), ...(left > 0 ? [`and ${left} more`] : [])];
  return `without any failure, what is paid differs from ${name}: ${shown.join('; ')}. Correct the table, or the client`;
}

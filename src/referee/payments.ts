import type { ExpectedPayout } from '../contract/conduct.ts';
import type { TransactionResponse } from '../contract/control-responses.ts';
import { counted, often, rupees } from '../contract/words.ts';
import { rupeesOf, toInr, toPaise } from '../payout/money.ts';
import type { Call } from './call.ts';
import type { Case, Paid } from './case.ts';
import { inSteps, whole, type Steps } from '../world/steps.ts';

/** What was paid, and how that differs from what was meant to be paid. */

export type Table = readonly ExpectedPayout[];

/** What is known of payouts whose money is out: one that is PENDING may not end up paid. */
export const madeOrPaid = (
  payouts: readonly { readonly state: TransactionResponse['status'] | null }[],
): 'made' | 'paid' => (payouts.every(({ state }) => state === 'SUCCESS') ? 'paid' : 'made');

/** The send that made each payout, or else the first of its reference. */
export const sendsOf = ({ sends, makers }: Case, payouts: readonly Paid[]): readonly Call[] =>
  payouts.flatMap(({ reference, txnId }) => {
    const calls = sends.get(reference) ?? [];
    return makers.get(txnId) ?? calls.find(({ committed }) => committed === true) ?? calls[0] ?? [];
  });

/** An account and an amount as one text. */
export const payoutKey = ({ account, amountPaise }: Pick<Paid, 'account' | 'amountPaise'>): string =>
  `${amountPaise} ${account}`;

const keyOf = ({ account, amount }: Pick<ExpectedPayout, 'account' | 'amount'>): string =>
  payoutKey({ account, amountPaise: toPaise(amount) });

/** A table with one line for each account and amount. */
export function summed(table: Table): Table {
  const lines = new Map<string, ExpectedPayout>();
  for (const { account, amount, times } of table) {
    const key = keyOf({ account, amount });
    lines.set(key, { account, amount, times: times + (lines.get(key)?.times ?? 0) });
  }
  return [...lines.values()];
}

/** How many payouts a table has, and what they come to. */
export function totalIn(table: Table): { readonly payouts: number; readonly amount: number } {
  const paise = table.reduce((sum, { amount, times }) => sum + times * toPaise(amount), 0);
  return { payouts: table.reduce((sum, { times }) => sum + times, 0), amount: toInr(paise) };
}

/** `1 payout of ₹250.00`, `3 payouts of ₹750.00 in all` */
export const totalText = ({ payouts, amount }: ReturnType<typeof totalIn>): string =>
  `${counted(payouts, 'payout')} of ${rupees(amount)}${payouts === 1 ? '' : ' in all'}`;

/** What ended up paid, as a table. */
export const paidTable = (paid: readonly Pick<Paid, 'account' | 'amountPaise'>[]): Table =>
  summed(paid.map(({ account, amountPaise }) => ({ account, amount: toInr(amountPaise), times: 1 })));

/** An account and amount that was paid too many or too few times. */
export interface Difference {
  readonly account: string;
  readonly amountPaise: number;
  readonly paid: number;
  readonly expected: number;
  readonly text: string;
}

/** `000123456789: paid ₹100.00 twice, expected once` */
function differenceText(account: string, amountPaise: number, paid: number, expected: number): string {
  const amount = rupeesOf(amountPaise);
  if (expected === 0) return `${account}: paid ${amount}${paid === 1 ? '' : ` ${often(paid)}`}, not expected`;
  const done = paid === 0 ? `not paid ${amount}` : `paid ${amount} ${often(paid)}`;
  return `${account}: ${done}, expected ${often(expected)}`;
}

/** Where two tables differ, in the order of the expected one; then what was not expected at all. @param paid with one line for each account and amount */
export function* differencesInSteps(paid: Table, expected: Table): Steps<readonly Difference[]> {
  const wanted = summed(expected);
  const known = new Set(wanted.map(keyOf));
  const times = new Map<string, number>();
  const others: ExpectedPayout[] = [];
  yield* inSteps(paid, (line) => {
    const key = keyOf(line);
    times.set(key, line.times);
    if (!known.has(key)) others.push({ ...line, times: 0 });
  });
  const differences = yield* inSteps([...wanted, ...others], (line): Difference | null => {
    const { account, amount, times: expectedTimes } = line;
    const amountPaise = toPaise(amount);
    const found = times.get(keyOf(line)) ?? 0;
    if (found === expectedTimes) return null;
    const text = differenceText(account, amountPaise, found, expectedTimes);
    return { account, amountPaise, paid: found, expected: expectedTimes, text };
  });
  return differences.filter((one) => one !== null);
}

/** The same at once. */
export const differencesBetween = (...tables: Parameters<typeof differencesInSteps>): readonly Difference[] =>
  whole(differencesInSteps(...tables));

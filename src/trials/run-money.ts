import { toPaise } from '../payout/money.ts';
import { caseOf, type Case, type Evidence } from '../referee/case.ts';
import { knownAtEnd, type Knowledge } from '../referee/knowledge.ts';
import {
  differencesBetween,
  isOut,
  often,
  paidOut,
  paidTable,
  payoutKey,
  rupees,
  type Difference,
  type Table,
} from '../referee/payments.ts';
import type { Run } from './run.ts';

/** What a client knows of a payout that it need not make. */
type NotPaid = readonly Knowledge['of'][];

export interface ToBePaid {
  /** One line for each account and amount. */
  readonly expected: Table;
  /**
   * How many times an account may be paid, in any amounts, as a run without failures has shown; others are not counted. Null when a
   * table lists everything that may be paid.
   */
  readonly mostTimes: ReadonlyMap<string, number> | null;
}

const casesOf = (worlds: readonly Evidence[]): readonly Case[] =>
  worlds.map((evidence) => caseOf(evidence, {}));

export const paidIn = ({ worlds }: Pick<Run, 'worlds'>): Table => paidTable(casesOf(worlds).flatMap(paidOut));

/** How many times each account is paid, in any amounts. */
export function timesByAccount(table: Table): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { account, times } of table) counts.set(account, times + (counts.get(account) ?? 0));
  return counts;
}

/** What both of two runs paid. An account is counted if both paid it equally often, even in different amounts. */
export function paidInBoth(one: Table, other: Table): ToBePaid {
  const missing = new Map(
    differencesBetween(other, one).map(({ account, amountPaise, paid }) => [
      payoutKey(account, amountPaise),
      paid,
    ]),
  );
  const expected = one
    .map((line) => {
      const paid = missing.get(payoutKey(line.account, toPaise(line.amount))) ?? line.times;
      return { ...line, times: Math.min(line.times, paid) };
    })
    .filter(({ times }) => times > 0);
  const accounts = new Set(expected.map(({ account }) => account));
  const [counts, others] = [timesByAccount(one), timesByAccount(other)];
  const mostTimes = [...counts].filter(
    ([account, times]) => accounts.has(account) && times === others.get(account),
  );
  return { expected, mostTimes: new Map(mostTimes) };
}

/** What was paid too many times, as sentences: an amount, or further payments to an account. */
function tooMuchIn(paid: Table, differences: readonly Difference[], mostTimes: ToBePaid['mostTimes']) {
  const tooOften = differences.filter((one) => one.expected > 0 && one.paid > one.expected);
  const named = new Set(tooOften.map(({ account }) => account));
  const others =
    mostTimes === null
      ? differences.filter(({ expected }) => expected === 0).map(({ text }) => text)
      : accountsAbove(mostTimes, paid)
          .filter(({ account }) => !named.has(account))
          .map(({ text }) => text);
  return [...tooOften.map(({ text }) => text), ...others];
}

/** Accounts that were paid more times than they may be, in any amounts. */
function accountsAbove(mostTimes: ReadonlyMap<string, number>, paid: Table) {
  const counts = timesByAccount(paid);
  return [...mostTimes]
    .filter(([account, most]) => (counts.get(account) ?? 0) > most)
    .map(([account, most]) => {
      const amounts = paid
        .filter((one) => one.account === account)
        .map(({ amount }) => rupees(toPaise(amount)));
      const text = `${account}: paid ${often(counts.get(account)!)}, expected ${often(most)}: ${amounts.join(', ')}`;
      return { account, text };
    });
}

/**
 * For how many missing payouts of an account and amount the client's knowledge at the end is one of these. The references that it
 * sent last decide, since a later one takes the place of one that failed.
 */
function knownAs(cases: readonly Case[], difference: Difference, known: NotPaid): number {
  const { account, amountPaise, expected, paid } = difference;
  const unpaid = cases.flatMap(({ sends, byReference, payouts }) =>
    [...sends].flatMap(([reference, [sent]]) => {
      const payout = payouts.get(reference);
      const isOfIt = sent?.body['beneficiary_account'] === account && sent.amountPaise === amountPaise;
      if (!isOfIt || (payout !== undefined && isOut(payout))) return [];
      return { beganMs: sent.beganMs, of: knownAtEnd(byReference.get(reference)!).of };
    }),
  );
  const last = unpaid.toSorted((a, b) => a.beganMs - b.beganMs).slice(paid - expected);
  return last.filter(({ of }) => known.includes(of)).length;
}

/** In sentences. @param notPaid what the client knows of a payout that is not missing: it knows that it was not paid */
export function moneyDifferences(
  { worlds }: Pick<Run, 'worlds'>,
  { expected, mostTimes }: ToBePaid,
  notPaid: NotPaid,
) {
  const cases = casesOf(worlds);
  const paid = paidTable(cases.flatMap(paidOut));
  const differences = differencesBetween(paid, expected);
  const missing = differences.filter((one) => one.paid < one.expected);
  return {
    tooMuch: tooMuchIn(paid, differences, mostTimes),
    tooLittle: missing
      .filter((one) => knownAs(cases, one, notPaid) < one.expected - one.paid)
      .map(({ text }) => text),
  };
}

/** What a client says of its payouts when it ends. */
export type Reported = 'paid' | 'failed' | 'in-doubt';

/**
 * The payouts that were made although their client reports a failure and never learned of them; null for none. A client that
 * says that it is in doubt is right.
 */
export function misreportedIn({ ending, worlds }: Run): string | null {
  if (ending.kind !== 'failure' || ending.isInDoubt) return null;
  const unknown = casesOf(worlds).flatMap((facts) =>
    paidOut(facts).filter(({ reference }) => {
      const { of } = knownAtEnd(facts.byReference.get(reference) ?? []);
      return of !== 'PENDING' && of !== 'SUCCESS';
    }),
  );
  const [first] = unknown;
  if (first === undefined) return null;
  const others = unknown.length === 1 ? '' : `, and ${unknown.length - 1} more`;
  return `${first.reference} was paid (${rupees(first.amountPaise)})${others}, but the client reports a failure`;
}

const MOST_DIFFERENCES = 5;

/** Why a table of what is to be paid cannot be used to judge; null when a run without failures pays what it says. */
export function tableFault(run: Run, table: Table, name: string, notPaid: NotPaid): string | null {
  const { tooMuch, tooLittle } = moneyDifferences(run, { expected: table, mostTimes: null }, notPaid);
  const differences = [...tooMuch, ...tooLittle];
  if (differences.length === 0) return null;
  const left = differences.length - MOST_DIFFERENCES;
  const shown = [...differences.slice(0, MOST_DIFFERENCES), ...(left > 0 ? [`and ${left} more`] : [])];
  return `without any failure, what is paid differs from ${name}: ${shown.join('; ')}. Correct the table, or the client`;
}

import type { Intent } from '../contract/conduct.ts';
import { often, rupees } from '../contract/words.ts';
import { rupeesOf } from '../payout/money.ts';
import { caseOf, groupedBy, isOut, type Case, type Evidence, type Paid } from '../referee/case.ts';
import { declaredOf } from '../referee/checks/second-payments.ts';
import { isKnownUnpaid, knownAtEnd, type Knowledge } from '../referee/knowledge.ts';
import {
  differencesBetween,
  madeOrPaid,
  paidTable,
  payoutKey,
  type Difference,
  type Table,
} from '../referee/payments.ts';
import type { Run } from './run.ts';

/** What a client may know of a payout. */
type KnownStates = readonly Knowledge['of'][];

export interface ToBePaid {
  /** One line for each account and amount. */
  readonly expected: Table;
  /** Null when a table lists everything that may be paid. */
  readonly usual: Usual | null;
}

/** What runs without failures pay. */
interface Usual {
  /** How many times an account may be paid, in any amounts; others are not counted. */
  readonly mostTimes: ReadonlyMap<string, number>;
  /** How many payouts there may be in all; Infinity where two runs differ. */
  readonly inAll: number;
  /** The accounts that they pay, or try to pay. */
  readonly accounts: ReadonlySet<string>;
}

const casesOf = (worlds: readonly Evidence[], intent?: Intent): readonly Case[] =>
  worlds.map((evidence) => caseOf(evidence, intent === undefined ? {} : { intent }));

/** What a run pays. @param intent of a payout that it declares, and the run pays several times, only the first counts */
export const paidIn = ({ worlds }: Pick<Run, 'worlds'>, intent?: Intent): Table =>
  paidTable(
    casesOf(worlds, intent).flatMap((facts) => {
      const payouts = groupedBy(facts.paid, (one) => declaredOf(facts, one) ?? one.txnId);
      return Array.from(payouts.values(), ([first]) => first!);
    }),
  );

function accountsIn({ worlds }: Run): ReadonlySet<string> {
  const initiates = casesOf(worlds).flatMap((facts) => facts.initiates);
  return new Set(initiates.map(({ body }) => String(body['beneficiary_account'])));
}

const countOf = (table: Table): number => table.reduce((sum, { times }) => sum + times, 0);

/** How many times each account is paid, in any amounts. */
function timesByAccount(table: Table): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { account, times } of table) counts.set(account, times + (counts.get(account) ?? 0));
  return counts;
}

/** What both of two runs without failures paid. An account is counted if both paid it equally often, even in different amounts. */
export function paidInBoth(
  first: Run,
  second: Run,
  intent: Intent | undefined,
): ToBePaid & { readonly areAlike: boolean } {
  const [one, other] = [paidIn(first, intent), paidIn(second, intent)];
  const timesIn = (table: Table, { account, amount }: Table[number]): number =>
    table.find((line) => line.account === account && line.amount === amount)?.times ?? 0;
  const expected = one
    .map((line) => ({ ...line, times: Math.min(line.times, timesIn(other, line)) }))
    .filter(({ times }) => times > 0);
  const accounts = new Set(expected.map(({ account }) => account));
  const [counts, others] = [timesByAccount(one), timesByAccount(other)];
  const mostTimes = [...counts].filter(
    ([account, times]) => accounts.has(account) && times === others.get(account),
  );
  const [tried, triedAgain] = [accountsIn(first), accountsIn(second)];
  const areAlike = countOf(expected) === Math.max(countOf(one), countOf(other));
  const isComparable =
    areAlike && tried.size === triedAgain.size && [...tried].every((account) => triedAgain.has(account));
  const usual = {
    mostTimes: new Map(mostTimes),
    inAll: isComparable ? countOf(one) : Infinity,
    accounts: tried,
  };
  return { expected, usual, areAlike };
}

/** What was paid too many times, as sentences: an amount, further payments to an account, or another account in addition. */
function tooMuchIn(paid: Table, differences: readonly Difference[], usual: ToBePaid['usual']) {
  const tooOften = differences.filter((one) => one.expected > 0 && one.paid > one.expected);
  const unlisted = differences.filter(({ expected }) => expected === 0);
  if (usual === null) return [...tooOften, ...unlisted].map(({ text }) => text);
  const named = new Set(tooOften.map(({ account }) => account));
  const counts = timesByAccount(paid);
  const inOtherAmounts = [...usual.mostTimes].flatMap(([account, most]) => {
    const times = counts.get(account) ?? 0;
    if (times <= most || named.has(account)) return [];
    const amounts = paid.filter((one) => one.account === account).map(({ amount }) => rupees(amount));
    return [`${account}: paid ${often(times)}, expected ${often(most)}: ${amounts.join(', ')}`];
  });
  // in place of one that failed, another account may be paid
  const isMore = countOf(paid) > usual.inAll;
  const others = isMore ? unlisted.filter(({ account }) => !usual.accounts.has(account)) : [];
  return [...tooOften.map(({ text }) => text), ...inOtherAmounts, ...others.map(({ text }) => text)];
}

/**
 * For how many missing payouts of an account and amount the client's knowledge at the end is one of these. The references that it
 * sent last decide, since a later one takes the place of one that failed.
 */
function knownAs(cases: readonly Case[], difference: Difference, known: KnownStates): number {
  const { account, amountPaise, expected, paid } = difference;
  const unpaid = cases.flatMap(({ sends, byReference, payouts }) =>
    [...sends].flatMap(([reference, [sent]]) => {
      const payout = payouts.get(reference);
      const isOfIt = sent?.body['beneficiary_account'] === account && sent.amountPaise === amountPaise;
      if (!isOfIt || (payout !== undefined && isOut(payout.status))) return [];
      return { beganMs: sent.beganMs, of: knownAtEnd(byReference.get(reference)!).of };
    }),
  );
  const last = unpaid.toSorted((a, b) => a.beganMs - b.beganMs).slice(paid - expected);
  return last.filter(({ of }) => known.includes(of)).length;
}

/**
 * In sentences.
 *
 * @param notPaid what the client knows of a payout that is not missing: it knows that it was not paid. A client that says that it
 *   paid everything has no such excuse
 */
export function moneyDifferences(
  { worlds, ending }: Run,
  { expected, usual }: ToBePaid,
  notPaid: KnownStates,
) {
  const cases = casesOf(worlds);
  const paid = paidTable(cases.flatMap(({ paid }) => paid));
  const differences = differencesBetween(paid, expected);
  const missing = differences.filter((one) => one.paid < one.expected);
  // where as many were paid, another account took the place of one that failed
  const isShort = countOf(paid) < countOf(expected);
  const excuses = ending.kind === 'success' && ending.isSaid && isShort ? [] : notPaid;
  return {
    tooMuch: tooMuchIn(paid, differences, usual),
    tooLittle: missing
      .filter((one) => knownAs(cases, one, excuses) < one.expected - one.paid)
      .map(({ text }) => text),
  };
}

/** What a client says of its payouts when it ends. */
export type Reported = 'paid' | 'failed' | 'in-doubt';

/** Payouts, of which the first is named. */
function andMore(payouts: readonly Paid[], state: string): string {
  const [{ reference, amountPaise }] = payouts as [Paid];
  const others = payouts.length === 1 ? '' : `, and ${payouts.length - 1} more`;
  return `${reference} ${state} (${rupeesOf(amountPaise)})${others}`;
}

/** What the client of a run knows in the end of each payout whose money is out. */
const knownOut = (cases: readonly Case[]) =>
  cases.flatMap(({ paid, byReference }) =>
    paid.map((one) => ({ ...one, of: knownAtEnd(byReference.get(one.reference) ?? []).of })),
  );

/**
 * The payouts that were made although their client reports a failure and never learned of them; null for none.
 *
 * @param isExact whether a failure means that nothing was paid, so that a payout last seen PENDING is misreported too. It is not if
 *   another payout failed
 * @param isSaid whether the client says it in words, so that it is wrong too if it saw that everything was paid
 */
function misreportedAsFailed(cases: readonly Case[], isExact: boolean, isSaid: boolean): string | null {
  const known = cases.flatMap(({ sends, byReference }) =>
    Array.from(sends.keys(), (reference) => knownAtEnd(byReference.get(reference)!)),
  );
  const isAllPaid = isSaid && known.every(({ of }) => of === 'SUCCESS');
  const exact: KnownStates = isAllPaid ? [] : ['SUCCESS'];
  const isKnown: KnownStates = isExact && !known.some(isKnownUnpaid) ? exact : ['SUCCESS', 'PENDING'];
  const unknown = knownOut(cases).filter(({ of }) => !isKnown.includes(of));
  const [first] = unknown;
  if (first === undefined) return null;
  const became = first.of === 'PENDING' ? 'was last seen PENDING' : `was ${madeOrPaid(unknown)}`;
  return `${andMore(unknown, became)}, but the client reports a failure`;
}

/**
 * The payouts that are still PENDING although their client says that everything was paid; null for none. One that is paid under
 * another reference does not count.
 */
function misreportedAsPaid(cases: readonly Case[], expected: Table): string | null {
  const out = knownOut(cases);
  const settled = out.filter(({ state, of }) => state === 'SUCCESS' || of === 'SUCCESS');
  const missing = new Set(
    differencesBetween(paidTable(settled), expected)
      .filter(({ paid, expected: times }) => paid < times || times === 0)
      .map(payoutKey),
  );
  const pending = out.filter((one) => !settled.includes(one) && missing.has(payoutKey(one)));
  if (pending.length === 0) return null;
  return `${andMore(pending, 'is PENDING')}, but the client reports that it was paid, which it cannot know`;
}

/**
 * What a client says in the end and cannot know, or what is wrong; null for nothing. A client that says that it is in doubt is right.
 *
 * @param isExact whether its words or exit code are taken at their word when it reports a failure
 */
export function misreportedIn(
  { ending, worlds }: Pick<Run, 'ending' | 'worlds'>,
  expected: Table,
  isExact: boolean,
): string | null {
  if (ending.kind === 'success') return ending.isSaid ? misreportedAsPaid(casesOf(worlds), expected) : null;
  if (ending.kind === 'stuck' || ending.isInDoubt) return null;
  return misreportedAsFailed(casesOf(worlds), isExact, ending.isSaid === true);
}

const MOST_DIFFERENCES = 5;

/** Why a table of what is to be paid cannot be used to judge; null when a run without failures pays what it says. */
export function tableFault(run: Run, table: Table, name: string, notPaid: KnownStates): string | null {
  const { tooMuch, tooLittle } = moneyDifferences(run, { expected: table, usual: null }, notPaid);
  const differences = [...tooMuch, ...tooLittle];
  if (differences.length === 0) return null;
  const left = differences.length - MOST_DIFFERENCES;
  const shown = [...differences.slice(0, MOST_DIFFERENCES), ...(left > 0 ? [`and ${left} more`] : [])];
  return `without any failure, what is paid differs from ${name}: ${shown.join('; ')}. Correct the table, or the client`;
}

import type { Book } from './book.ts';

/** What must always hold of a book. Costs the same for every size: it holds sums that were counted apart against each other. */
export function brokenInvariants({ wallet, entries, transactions, tallies, ids }: Book): readonly string[] {
  const { PENDING, SUCCESS, FAILED, REVERSED } = tallies;
  const checks: readonly (readonly [string, boolean])[] = [
    ['the balance is never below 0', wallet.balancePaise >= 0],
    [
      'balance + PENDING + SUCCESS = money put in',
      wallet.balancePaise + PENDING.paise + SUCCESS.paise === wallet.putInPaise,
    ],
    ['the newest entry shows the balance', entries.balancePaise === wallet.balancePaise],
    [
      'every transaction is in one state',
      PENDING.count + SUCCESS.count + FAILED.count + REVERSED.count === transactions.length,
    ],
    ['every transaction was made once', ids.size === transactions.length],
    [
      'one entry for each payout, one for each that gave its money back',
      entries.length >= transactions.length + FAILED.count + REVERSED.count + 1,
    ],
  ];
  return checks.filter(([, holds]) => !holds).map(([what]) => what);
}

import type { WorldState } from './state-shape.ts';

/** The invariants that are broken; none in a correct world. It compares sums that were kept separately, so its cost does not depend on the size of the world. */
export function brokenInvariants({ wallet, entries, payouts, index }: WorldState): readonly string[] {
  const { PENDING, SUCCESS, FAILED, REVERSED } = index.tallies;
  const count = PENDING.count + SUCCESS.count + FAILED.count + REVERSED.count;
  const checks: readonly (readonly [string, boolean])[] = [
    ['the balance is never below 0', wallet.balancePaise >= 0],
    [
      'balance + PENDING + SUCCESS = money put in',
      wallet.balancePaise + PENDING.paise + SUCCESS.paise === wallet.putInPaise,
    ],
    ['money out is in PENDING and SUCCESS', wallet.paidOutPaise === PENDING.paise + SUCCESS.paise],
    ['the newest entry shows the balance', entries.at(-1)?.balancePaise === wallet.balancePaise],
    ['every payout is in one state', count === payouts.length],
    ['every payout was made once', index.byTxnId.size === payouts.length],
    [
      'one entry for each payout, one for each whose money was returned',
      entries.length >= payouts.length + FAILED.count + REVERSED.count + 1,
    ],
  ];
  return checks.filter(([, holds]) => !holds).map(([what]) => what);
}

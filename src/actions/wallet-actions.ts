import type { EntriesResponse, MoneyResponse } from '../contract/control-responses.ts';
import { action, type Session } from './sandbox-action.ts';
import { amount, limit, text } from './arguments.ts';
import { olderLines, rupees, signedRupees, table } from './words.ts';

const INR = { amount: amount('INR, at most 2 decimals') };

const moneyLines = ({ entry, balance }: MoneyResponse): readonly string[] => [
  `${signedRupees(entry.amount)}: the balance is ${rupees(balance)}`,
];

const entryLines = ({ entries, next }: EntriesResponse, { zone, paint }: Session): readonly string[] => {
  const rows = entries
    .toReversed()
    .map(({ at, kind, amount: moved, balance, txn_id: txnId }) => [
      zone.second(at),
      kind,
      { text: signedRupees(moved), isRight: true },
      { text: rupees(balance), isRight: true },
      { text: txnId ?? '', colour: 'dim' as const },
    ]);
  return [
    ...table(
      [`at (${zone.name})`, 'entry', 'amount', 'balance', 'txn_id'],
      rows,
      paint,
      'this world has no such entry',
    ),
    ...olderLines(next),
  ];
};

export const walletActions = [
  action({
    name: 'fund',
    summary: 'put money into the wallet of a world, in INR',
    effect: 'changes',
    input: INR,
    words: ['amount'],
    run: ({ amount: inr }, { world }) => world.fund(inr),
    lines: moneyLines,
  }),
  action({
    name: 'withdraw',
    summary: 'take money out of the wallet of a world, without a payout',
    effect: 'changes',
    input: INR,
    words: ['amount'],
    run: ({ amount: inr }, { world }) => world.withdraw(inr),
    lines: moneyLines,
  }),
  action({
    name: 'entries',
    summary: 'list the ledger entries that explain the balance',
    effect: 'reads',
    input: { txn: text('only those of this txn_id', 'id').optional(), limit },
    run: ({ txn, limit: most }, { control }) =>
      control.get<EntriesResponse>('/wallet/entries', { txn_id: txn, limit: most }),
    lines: entryLines,
  }),
];

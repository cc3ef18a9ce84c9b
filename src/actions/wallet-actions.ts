import type { EntriesResponse, MoneyResponse } from '../contract/control-responses.ts';
import { istSecond } from '../contract/times.ts';
import { rupees, signedRupees } from '../contract/words.ts';
import { action, type Session } from './sandbox-action.ts';
import { amount, flag, limit, text } from './arguments.ts';
import { olderLines, table } from './text-output.ts';

const moneyLines = ({ entry, balance }: MoneyResponse): readonly string[] => [
  `${signedRupees(entry.amount)}: the balance is ${rupees(balance)}`,
];

const entryLines = ({ entries, next }: EntriesResponse, { paint, nameOf }: Session): readonly string[] => {
  const rows = entries
    .toReversed()
    .map(({ at, kind, amount: moved, balance, txn_id: txnId }) => [
      istSecond(at),
      kind,
      { text: signedRupees(moved), isRight: true },
      { text: rupees(balance), isRight: true },
      { text: txnId ?? '', colour: 'dim' as const },
    ]);
  return [
    ...table(
      ['at (IST)', 'entry', 'amount', 'balance', 'txn_id'],
      rows,
      paint,
      'this world has no such entry',
    ),
    ...olderLines(next, nameOf('limit')),
  ];
};

export const walletActions = [
  action({
    name: 'fund',
    summary: 'put money into the wallet of a world, or take it out without a payout',
    effect: 'changes',
    input: {
      amount: amount('INR, at most 2 decimals'),
      withdraw: flag('take this amount out of the wallet instead'),
    },
    words: ['amount'],
    run: ({ amount: inr, withdraw }, { world }) => (withdraw ? world.withdraw(inr) : world.fund(inr)),
    lines: moneyLines,
  }),
  action({
    name: 'entries',
    summary: 'list the ledger entries that explain the balance',
    effect: 'reads',
    input: { txn: text('only those of this txn_id', 'id').optional(), limit },
    run: ({ txn, ...query }, { control }) =>
      control.get<EntriesResponse>('/wallet/entries', { ...query, txn_id: txn }),
    lines: entryLines,
  }),
];

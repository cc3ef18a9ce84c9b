import { expect, test } from 'vitest';
import { expectedTable } from '../../src/referee/expected-table.ts';

test('a table of expected payouts is CSV or JSON', () => {
  const table = [
    { account: '000123456789', amount: 100.5, times: 1 },
    { account: 'asha@upi', amount: 7, times: 2 },
  ];
  expect(expectedTable('account,amount,times\n000123456789,100.50,\nasha@upi,7,2\n')).toEqual(table);
  expect(expectedTable('\ufeffAmount, Account ,times\r\n"100.5","000123456789",1\r\n7,asha@upi,2')).toEqual(
    table,
  );
  expect(expectedTable('account,amount\n000123456789,100.5')).toEqual(table.slice(0, 1));
  expect(expectedTable(JSON.stringify([{ account: '000123456789', amount: 100.5 }, table[1]]))).toEqual(
    table,
  );
  expect(expectedTable('[]')).toEqual([]);
});

test.each([
  [
    'name,amount\nx,1',
    'the first line must name the columns account, amount and (if you like) times, not name,amount',
  ],
  ['account\nx', 'the first line must name the columns'],
  ['account,amount\nx,ten', 'payout 1: amount'],
  ['account,amount\nx,1\ny,1.005', 'payout 2: amount: must have at most 2 decimals'],
  ['[{"account":"x"}]', 'payout 1: amount'],
  ['[1', 'it is not JSON'],
])('the table %j is refused with the reason', (text, reason) => {
  expect(() => expectedTable(text)).toThrow(reason);
});

import { expect, test } from 'vitest';
import { expectedTable } from '../../src/referee/expected-table.ts';
import { testRows } from '../support/test-rows.ts';

test('a table of expected payouts is CSV or JSON', () => {
  const table = [
    { account: '000123456789', amount: 100.5, times: 1 },
    { account: 'asha@upi', amount: 7, times: 2 },
  ];
  expect(expectedTable('account,amount,times\n000123456789,100.50,\nasha@upi,7,2\n')).toEqual(table);
  expect(expectedTable('\ufeffAmount, Account ,times\r\n"100.5","000123456789",1\r\n7,asha@upi,2')).toEqual(
    table,
  );
  expect(expectedTable(JSON.stringify([{ account: '000123456789', amount: 100.5 }, table[1]]))).toEqual(
    table,
  );
  expect(expectedTable('account,amount\nx,"1,000.00"\ny,"1,00,000.50"\n')).toMatchObject([
    { amount: 1000 },
    { amount: 100_000.5 },
  ]);
});

testRows([
  [
    'name,amount\nx,1',
    'the first line must name the columns account, amount and (if you like) times, not "name,amount"',
  ],
  ['account,amount\nx,ten', 'line 2: amount must be a number'],
  ['account,amount\n\nx,1\ny,1.005', 'line 4: amount must have at most 2 decimals (INR, whole paise)'],
  ['account,amount,times\nx,1,1.5', 'line 2: times must be a whole number'],
  ['account,amount\nx,1,000.00', 'line 2 must have 2 cells, as the first line has, not 3: x,1,000.00'],
  ['', 'it is empty'],
  ['account,amount\n\0,1', 'it is not a text file'],
  ['[{"account":"x","amount":"ten"}]', 'payout 1: amount must be a number'],
  ['[1', 'it is not JSON'],
  ['{"payouts":[]}', 'JSON must be a list, such as [{"account":'],
])('a wrong table is refused with the reason', (text, reason) => {
  expect(() => expectedTable(text)).toThrow(reason);
});

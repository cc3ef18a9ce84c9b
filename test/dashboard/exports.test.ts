import { expect, test } from 'vitest';
import type { RuleResponse } from '../../src/contract/control-responses.ts';
import { lossText } from '../../src/dashboard/world/losses.ts';
import { payoutsCsv } from '../../src/dashboard/payouts/payouts-csv.ts';
import { payoutResponse } from '../support/payout-response.ts';
import { testRows } from '../support/test-rows.ts';

test('payouts are exported as CSV, with a line for each', () => {
  expect(payoutsCsv([payoutResponse('1', { amount: 1500.5 })])).toBe(
    'txn_id,client_ref_id,status,amount,transfer_mode,beneficiary_name,beneficiary_account,beneficiary_ifsc,utr,created_at,completed_at,planned_by\r\n' +
      '1,order-1,PENDING,1500.5,IMPS,Asha Rao,000123456789,SBIN0000001,,2026-01-15T10:30:00.000Z,,default\r\n',
  );
});

testRows([
  ['Rao, Asha', '"Rao, Asha"'],
  ['the "boss"', '"the ""boss"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"], // a spreadsheet would calculate it
  ['@SUM(A1,A2)', `"'@SUM(A1,A2)"`],
])('anything in a payout stays one cell, and text', (name, cell) => {
  expect(payoutsCsv([payoutResponse('1', { beneficiary_name: name })])).toContain(
    `,IMPS,${cell},000123456789,`,
  );
});

const lossOf = ({ payouts = 0, requests = 0, rulesOnTop = 0, isScenarioChosen = false, balance = 0 }) =>
  lossText(
    {
      summary: {
        transactions: { PENDING: 0, SUCCESS: payouts, FAILED: 0, REVERSED: 0 },
        balance,
        opening_balance: 0,
      },
      scenario: {
        chosen: isScenarioChosen,
        rules: Array.from({ length: rulesOnTop }, () => ({ from: 'world' }) as RuleResponse),
      },
    },
    requests,
  );

testRows([
  [{}, null],
  [{ payouts: 1 }, '1 payout'],
  [{ payouts: 1200, requests: 3, rulesOnTop: 1 }, '1,200 payouts, 3 requests and 1 override'],
  [{ isScenarioChosen: true }, 'its own scenario'],
  [{ balance: 1 }, 'the changes of the balance'],
])('a question says what of a world would be replaced', (change, text) => {
  expect(lossOf(change)).toBe(text);
});

import { expect, test } from 'vitest';
import { payoutsCsv } from '../../src/dashboard/payouts/payouts-csv.ts';
import { payoutResponse } from '../support/payout-response.ts';
import { testRows } from '../support/test-rows.ts';

test('payouts are exported as CSV, with a line for each', () => {
  expect(payoutsCsv([payoutResponse('1', { amount: 1500.5 })])).toBe(
    'txn_id,client_ref_id,status,amount,transfer_mode,beneficiary_name,beneficiary_account,beneficiary_ifsc,utr,created_at,completed_at,planned_by,at_risk,told\r\n' +
      '1,order-1,PENDING,1500.5,IMPS,Asha Rao,000123456789,SBIN0000001,,2026-01-15T10:30:00.000Z,,default,false,\r\n',
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

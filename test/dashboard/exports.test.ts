import { expect, test } from 'vitest';
import type { RuleResponse, TransactionResponse } from '../../src/contract/control-responses.ts';
import { lossText } from '../../src/dashboard/world/losses.ts';
import { payoutsCsv } from '../../src/dashboard/payouts/payouts-csv.ts';
import { testRows } from '../support/test-rows.ts';

const payout = (change: Partial<TransactionResponse>): TransactionResponse => ({
  txn_id: 'TXN1',
  client_ref_id: 'order-1',
  status: 'SUCCESS',
  amount: 1500.5,
  transfer_mode: 'IMPS',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  utr: null,
  created_at: '2026-01-15T10:30:00.000Z',
  completed_at: null,
  nth: 1,
  planned_by: 'default',
  reason: '',
  hidden_by: null,
  at_risk: false,
  told: null,
  legal: [],
  timeline: [],
  ...change,
});

test('payouts are exported as CSV, with a line for each', () => {
  expect(payoutsCsv([payout({})])).toBe(
    'txn_id,client_ref_id,status,amount,transfer_mode,beneficiary_name,beneficiary_account,beneficiary_ifsc,utr,created_at,completed_at,planned_by\r\n' +
      'TXN1,order-1,SUCCESS,1500.5,IMPS,Asha Rao,000123456789,SBIN0000001,,2026-01-15T10:30:00.000Z,,default\r\n',
  );
});

testRows([
  ['Rao, Asha', '"Rao, Asha"'],
  ['the "boss"', '"the ""boss"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"], // a spreadsheet would calculate it
  ['@SUM(A1,A2)', `"'@SUM(A1,A2)"`],
])('anything in a payout stays one cell, and text', (name, cell) => {
  expect(payoutsCsv([payout({ beneficiary_name: name })])).toContain(`,IMPS,${cell},000123456789,`);
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
])('a question says what a world would lose', (change, text) => {
  expect(lossOf(change)).toBe(text);
});

import { expect, test } from 'vitest';
import { DEFAULT_DIALECT } from '../../src/contract/dialect.ts';
import type { InitiateRequest } from '../../src/contract/service.ts';
import { checkRailRules } from '../../src/payout/rails.ts';
import { request } from '../support/world/core.ts';
import { testRows } from '../support/test-rows.ts';

/** The fields that `refuse` refuses. */
const refusedFields = (change: Partial<InitiateRequest>): string[] =>
  checkRailRules(
    request({ beneficiary_account: '000123456789', beneficiary_ifsc: 'SBIN0000001', ...change }),
    {
      ...DEFAULT_DIALECT.requests,
      formats: 'refuse',
      mode_limits: 'refuse',
    },
  ).errors.map(({ field }) => field);

testRows([
  ['SBIN0A1B2C3', true],
  ['XSBIN0000001', false],
  ['SBIN00000012', false],
  ['SBIN000000', false],
  ['SBIN1000001', false],
  ['sbin0000001', false],
])('an IFSC is told from what is none', (beneficiary_ifsc, isGood) => {
  expect(refusedFields({ beneficiary_ifsc })).toEqual(isGood ? [] : ['beneficiary_ifsc']);
});

testRows([
  ['1'.repeat(8), false],
  ['1'.repeat(9), true],
  ['1'.repeat(18), true],
  ['1'.repeat(19), false],
  ['x123456789', false],
  ['123456789x', false],
])('an account is told from what is none', (beneficiary_account, isGood) => {
  for (const transfer_mode of ['IMPS', 'UPI'] as const)
    expect(refusedFields({ beneficiary_account, transfer_mode })).toEqual(
      isGood ? [] : ['beneficiary_account'],
    );
});

testRows([
  ['asha@bank', true],
  ['a.b-c@ok.bank', true],
  ['a@ba', true],
  ['a@b', false],
  ['@bank', false],
  ['as ha@bank', false],
  ['asha@bank!', false],
  [`${'a'.repeat(95)}@bank`, true],
  [`${'a'.repeat(96)}@bank`, false],
])('a UPI ID is told from what is none', (beneficiary_account, isGood) => {
  expect(refusedFields({ beneficiary_account, transfer_mode: 'UPI' })).toEqual(
    isGood ? [] : ['beneficiary_account'],
  );
  expect(refusedFields({ beneficiary_account, transfer_mode: 'IMPS' })).toEqual(['beneficiary_account']);
});

test.each([
  ['IMPS', [0.01, 500_000], [500_000.01]],
  ['NEFT', [0.01, 99_999_999], []],
  ['RTGS', [200_000, 99_999_999], [199_999.99]],
  ['UPI', [0.01, 100_000], [100_000.01]],
] as const)('%s accepts INR %j, and refuses %j', (transfer_mode, carried, refused) => {
  for (const amount of carried) expect(refusedFields({ amount, transfer_mode })).toEqual([]);
  for (const amount of refused) expect(refusedFields({ amount, transfer_mode })).toEqual(['amount']);
});

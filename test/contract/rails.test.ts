import { expect, test } from 'vitest';
import { checkRailRules } from '../../src/contract/service.ts';
import { PAYOUT } from '../support/sandbox.ts';
import { testRows } from '../support/test-rows.ts';

type Request = Parameters<typeof checkRailRules>[0];
type Rows = Parameters<typeof checkRailRules>[1];

const ROWS = { formats: 'warn', mode_limits: 'warn', upi_beneficiary: 'account_or_upi_id' } as Rows;
const check = (change: Partial<Request>, rows: Partial<Rows> = {}) =>
  checkRailRules({ ...PAYOUT, transfer_mode: 'IMPS', ...change }, { ...ROWS, ...rows });

const NO_IFSC = 'beneficiary_ifsc is not an IFSC (4 capital letters, 0, 6 capital letters or digits)';
const NO_ACCOUNT = 'beneficiary_account is not 9 to 18 digits';
const NEITHER = 'beneficiary_account is neither 9 to 18 digits nor a UPI ID (name@handle)';
const upi = (beneficiary_account: string): Partial<Request> => ({
  transfer_mode: 'UPI',
  beneficiary_account,
});

testRows<[change: Partial<Request>, warning?: string]>([
  [{}],
  [{ beneficiary_ifsc: 'HDFC0ABC123' }],
  [{ beneficiary_ifsc: 'SBIN1000001' }, NO_IFSC],
  [{ beneficiary_ifsc: 'SBIN00000011' }, NO_IFSC],
  [{ beneficiary_ifsc: 'XSBIN0000001' }, NO_IFSC],
  [{ beneficiary_account: '1'.repeat(9) }],
  [{ beneficiary_account: '1'.repeat(18) }],
  [{ beneficiary_account: '1'.repeat(8) }, NO_ACCOUNT],
  [{ beneficiary_account: '1'.repeat(19) }, NO_ACCOUNT],
  [{ beneficiary_account: 'x123456789' }, NO_ACCOUNT],
  [{ beneficiary_account: 'asha@bank' }, NO_ACCOUNT],
  [upi('1'.repeat(9))],
  [upi('1'.repeat(8)), NEITHER],
  [upi('asha.rao-1@bank.in')],
  [upi('a@b')],
  [upi('@bank'), NEITHER],
  [upi('as ha@bank'), NEITHER],
  [upi('asha@bank!'), NEITHER],
  [upi(`${'a'.repeat(95)}@bank`)],
  [upi(`${'a'.repeat(96)}@bank`), NEITHER],
  [{ amount: 500_000 }],
  [{ amount: 500_000.01 }, 'amount is above INR 5,00,000, the usual limit of IMPS'],
  [{ amount: 100_000, transfer_mode: 'UPI' }],
  [{ amount: 100_000.01, transfer_mode: 'UPI' }, 'amount is above INR 1,00,000, the usual limit of UPI'],
  [{ amount: 200_000, transfer_mode: 'RTGS' }],
  [{ amount: 199_999.99, transfer_mode: 'RTGS' }, 'amount is below INR 2,00,000, the minimum of RTGS'],
  [{ amount: 0.01, transfer_mode: 'NEFT' }],
  [{ amount: 1e11, transfer_mode: 'NEFT' }],
])('a payout is what the rails carry, or a warning says why not', (change, warning) => {
  expect(check(change)).toEqual({ warnings: warning === undefined ? [] : [warning], errors: [] });
});

test('a dialect can refuse UPI IDs as accounts', () => {
  expect(check(upi('asha@bank'), { upi_beneficiary: 'account' }).warnings).toEqual([NO_ACCOUNT]);
});

test('a value that the dialect refuses is an error with its field; one that it ignores is not reported', () => {
  const all = { beneficiary_ifsc: 'x', beneficiary_account: 'y', amount: 1, transfer_mode: 'RTGS' } as const;
  expect(check(all).warnings).toHaveLength(3);
  expect(check(all, { formats: 'refuse' })).toEqual({
    warnings: ['amount is below INR 2,00,000, the minimum of RTGS'],
    errors: [
      { field: 'beneficiary_ifsc', message: NO_IFSC },
      { field: 'beneficiary_account', message: NO_ACCOUNT },
    ],
  });
  expect(check(all, { formats: 'ignore', mode_limits: 'refuse' }).errors).toMatchObject([
    { field: 'amount' },
  ]);
  expect(check(all, { formats: 'ignore', mode_limits: 'ignore' })).toEqual({ warnings: [], errors: [] });
});

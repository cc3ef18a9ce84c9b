import type { Dialect } from '../contract/dialect.ts';
import { fieldError, type FieldError } from '../contract/errors.ts';
import type { InitiateRequest, TransferMode } from '../contract/service.ts';
import { grouped } from '../contract/words.ts';

const IFSC = /^[A-Z]{4}0[A-Z0-9]{6}$/;
const ACCOUNT = /^\d{9,18}$/;
const UPI_ID = /^[a-zA-Z0-9.-]+@[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/;
const UPI_ID_MAX_LENGTH = 100;

/** What the rails usually carry, in INR, as of 2026: RBI for IMPS (Oct 2021) and RTGS, NPCI for UPI. */
const MODE_LIMITS_INR: Record<TransferMode, { readonly min?: number; readonly max?: number }> = {
  IMPS: { max: 500_000 },
  NEFT: {},
  RTGS: { min: 200_000 },
  UPI: { max: 100_000 },
};

const inr = (amount: number): string => `INR ${grouped(amount)}`;

export const ifscProblem = (ifsc: string): string | undefined =>
  IFSC.test(ifsc) ? undefined : 'is not an IFSC (4 capital letters, 0, 6 capital letters or digits)';

export function accountProblem(account: string, mayBeUpiId: boolean): string | undefined {
  if (ACCOUNT.test(account)) return undefined;
  if (!mayBeUpiId) return 'is not 9 to 18 digits';
  if (UPI_ID.test(account) && account.length <= UPI_ID_MAX_LENGTH) return undefined;
  return 'is neither 9 to 18 digits nor a UPI ID (name@handle)';
}

function amountProblem(amount: number, mode: TransferMode): string | undefined {
  const { min = 0, max = Infinity } = MODE_LIMITS_INR[mode];
  if (amount < min) return `is below ${inr(min)}, the minimum of ${mode}`;
  if (amount > max) return `is above ${inr(max)}, the usual limit of ${mode}`;
  return undefined;
}

interface RailIssues {
  /** Warnings about an accepted request, in ASCII and without values from the request, so that a header can contain them. */
  readonly warnings: readonly string[];
  readonly errors: readonly FieldError[];
}

/** Checks what a real bank might refuse in a request that the payout API allows. docs/fidelity.md has the sources. */
export function checkRailRules(request: InitiateRequest, rows: Dialect['requests']): RailIssues {
  const { transfer_mode: mode, amount, beneficiary_account: account, beneficiary_ifsc: ifsc } = request;
  const mayBeUpiId = mode === 'UPI' && rows.upi_beneficiary === 'account_or_upi_id';
  const found = [
    { field: 'beneficiary_ifsc', row: rows.formats, problem: ifscProblem(ifsc) },
    { field: 'beneficiary_account', row: rows.formats, problem: accountProblem(account, mayBeUpiId) },
    { field: 'amount', row: rows.mode_limits, problem: amountProblem(amount, mode) },
  ];
  const withRow = (wanted: 'warn' | 'refuse'): FieldError[] =>
    found
      .filter(({ row, problem }) => row === wanted && problem !== undefined)
      .map(({ field, problem }) => fieldError(field, problem!));
  return { warnings: withRow('warn').map(({ message }) => message), errors: withRow('refuse') };
}

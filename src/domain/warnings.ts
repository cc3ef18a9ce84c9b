import type { InitiateRequest, TransferMode } from '../contract/payout.ts';

const IFSC = /^[A-Z]{4}0[A-Z0-9]{6}$/;
const ACCOUNT = /^\d{9,18}$/;
const UPI_ID = /^[a-zA-Z0-9.-]{1,}@[a-zA-Z0-9.]{2,}$/;
const UPI_ID_LENGTHS = { min: 3, max: 100 };

/** What the rails usually carry, in INR, as of 2026: RBI for IMPS (Oct 2021) and RTGS, NPCI for UPI. */
const MODE_LIMITS_INR: Record<TransferMode, { readonly min?: number; readonly max?: number }> = {
  IMPS: { max: 500_000 },
  NEFT: {},
  RTGS: { min: 200_000 },
  UPI: { max: 100_000 },
};

const indian = new Intl.NumberFormat('en-IN');
const inr = (amount: number): string => `INR ${indian.format(amount)}`;

function accountWarning(account: string, mode: TransferMode): string | undefined {
  if (ACCOUNT.test(account)) return undefined;
  if (mode !== 'UPI') return 'beneficiary_account is not 9 to 18 digits';
  const { min, max } = UPI_ID_LENGTHS;
  if (UPI_ID.test(account) && account.length >= min && account.length <= max) return undefined;
  return 'beneficiary_account is neither 9 to 18 digits nor a UPI ID (name@handle)';
}

function amountWarning(amount: number, mode: TransferMode): string | undefined {
  const { min, max } = MODE_LIMITS_INR[mode];
  if (min !== undefined && amount < min) return `amount is below ${inr(min)}, where ${mode} starts`;
  if (max !== undefined && amount > max) return `amount is above ${inr(max)}, where ${mode} usually ends`;
  return undefined;
}

/**
 * What a real bank might refuse in a request that the interface allows: one sentence each, in plain ASCII and with
 * nothing of the request in it, fit for a header. Sources and how sure they are: docs/fidelity.md.
 */
export function warningsFor(request: InitiateRequest): readonly string[] {
  const mode = request.transfer_mode;
  return [
    IFSC.test(request.beneficiary_ifsc)
      ? undefined
      : 'beneficiary_ifsc is not an IFSC (4 capital letters, 0, 6 capital letters or digits)',
    accountWarning(request.beneficiary_account, mode),
    amountWarning(request.amount, mode),
  ].filter((warning) => warning !== undefined);
}

import type { TransactionResponse } from '../../contract/control-responses.ts';

const COLUMNS = [
  'txn_id',
  'client_ref_id',
  'status',
  'amount',
  'transfer_mode',
  'beneficiary_name',
  'beneficiary_account',
  'beneficiary_ifsc',
  'utr',
  'created_at',
  'completed_at',
  'planned_by',
] as const satisfies readonly (keyof TransactionResponse)[];

/** A spreadsheet runs texts that begin like this as formulas, and clients choose the texts of their payouts. */
const FORMULA = /^[=+\-@\t\r]/;

function cellText(value: string | number | null): string {
  const text = value === null ? '' : String(value);
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Payouts as CSV (RFC 4180): amounts in INR, times in UTC. */
export const payoutsCsv = (payouts: readonly TransactionResponse[]): string =>
  [COLUMNS, ...payouts.map((payout) => COLUMNS.map((column) => payout[column]))]
    .map((cells) => `${cells.map(cellText).join(',')}\r\n`)
    .join('');

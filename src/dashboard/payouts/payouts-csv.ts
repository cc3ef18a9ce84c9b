import type { TransactionResponse } from '../../contract/control-responses.ts';

const FIELDS = [
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
  'at_risk',
] as const satisfies readonly (keyof TransactionResponse)[];

/** A spreadsheet runs texts that begin like this as formulas, and clients choose the texts of their payouts. */
const FORMULA = /^[=+\-@\t\r]/;

function cellText(value: string | number | boolean | null): string {
  const text = value === null ? '' : String(value);
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** Payouts as CSV (RFC 4180): amounts in INR, times in UTC; `told` is the state that the client saw last. */
export const payoutsCsv = (payouts: readonly TransactionResponse[]): string =>
  [
    [...FIELDS, 'told'],
    ...payouts.map((payout) => [...FIELDS.map((field) => payout[field]), payout.told?.as ?? null]),
  ]
    .map((cells) => `${cells.map(cellText).join(',')}\r\n`)
    .join('');

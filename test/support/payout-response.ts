import type { TransactionResponse } from '../../src/contract/control-responses.ts';

/** A new payout, as the control API describes it. */
export const payoutResponse = (
  id: string,
  change: Partial<TransactionResponse> = {},
): TransactionResponse => ({
  txn_id: id,
  client_ref_id: `order-${id}`,
  status: 'PENDING',
  amount: 100,
  transfer_mode: 'IMPS',
  beneficiary_name: 'Asha Rao',
  beneficiary_account: '000123456789',
  beneficiary_ifsc: 'SBIN0000001',
  utr: null,
  created_at: '2026-01-15T10:30:00.000Z',
  completed_at: null,
  nth: 1,
  planned_by: 'default',
  reason: 'PENDING',
  hidden_by: null,
  at_risk: false,
  out_of_date: false,
  told: null,
  legal: ['SUCCESS', 'FAILED', 'REVERSED'],
  timeline: [],
  ...change,
});

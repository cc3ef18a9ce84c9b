import type { BalanceAnswer, InitiateAnswer, StatusAnswer } from '../contract/payout.ts';
import { DEFAULT_DIALECT } from '../domain/dialect.ts';
import { toInr } from '../domain/money.ts';
import type { Transaction } from '../domain/transaction.ts';
import type { BalanceOutcome } from '../ledger/ledger.ts';

/** ISO 8601 in UTC, with milliseconds. */
const timestamp = (atMs: number): string => new Date(atMs).toISOString();

export const initiateAnswer = (transaction: Transaction): InitiateAnswer => ({
  status: 'success',
  message: DEFAULT_DIALECT.initiateMessage,
  data: {
    txn_id: transaction.txnId,
    client_ref_id: transaction.clientRefId,
    status: transaction.state,
    amount: toInr(transaction.amountPaise),
    utr: transaction.utr,
    created_at: timestamp(transaction.createdAtMs),
  },
});

export const balanceAnswer = (
  balance: Pick<BalanceOutcome, 'balancePaise' | 'lastUpdatedMs'>,
): BalanceAnswer => ({
  status: 'success',
  data: {
    balance: toInr(balance.balancePaise),
    currency: 'INR',
    last_updated: timestamp(balance.lastUpdatedMs),
  },
});

export const statusAnswer = (transaction: Transaction): StatusAnswer => ({
  status: 'success',
  data: {
    txn_id: transaction.txnId,
    client_ref_id: transaction.clientRefId,
    status: transaction.state,
    amount: toInr(transaction.amountPaise),
    utr: transaction.utr,
    beneficiary_name: transaction.beneficiaryName,
    beneficiary_account: transaction.beneficiaryAccount,
    created_at: timestamp(transaction.createdAtMs),
    completed_at:
      transaction.completedAtMs === null
        ? DEFAULT_DIALECT.completedAtWhilePending
        : timestamp(transaction.completedAtMs),
  },
});

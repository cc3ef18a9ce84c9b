import type { Dialect } from '../../contract/dialect.ts';
import type { BalanceAnswer, InitiateAnswer, StatusAnswer } from '../../contract/payout.ts';
import { toInr } from '../../payout/money.ts';
import type { Transaction } from '../../payout/payout.ts';
import type { BalanceOutcome } from '../../ledger/ledger.ts';

/** The interface's own words for the 200 of initiate. */
const INITIATE_MESSAGE = 'Payout initiated successfully';

/** ISO 8601 in UTC, with milliseconds or whole seconds. */
function timestamp(atMs: number, { answers }: Dialect): string {
  const text = new Date(atMs).toISOString();
  return answers.timestamps === 'seconds' ? text.replace(/\.\d+/, '') : text;
}

export const initiateAnswer = (transaction: Transaction, dialect: Dialect): InitiateAnswer => ({
  status: 'success',
  message: INITIATE_MESSAGE,
  data: {
    txn_id: transaction.txnId,
    client_ref_id: transaction.clientRefId,
    status: transaction.state,
    amount: toInr(transaction.amountPaise),
    utr: transaction.utr,
    created_at: timestamp(transaction.createdAtMs, dialect),
  },
});

export const balanceAnswer = (
  { balancePaise, lastUpdatedMs }: Pick<BalanceOutcome, 'balancePaise' | 'lastUpdatedMs'>,
  dialect: Dialect,
): BalanceAnswer => ({
  status: 'success',
  data: { balance: toInr(balancePaise), currency: 'INR', last_updated: timestamp(lastUpdatedMs, dialect) },
});

export const statusAnswer = (transaction: Transaction, dialect: Dialect): StatusAnswer => ({
  status: 'success',
  data: {
    txn_id: transaction.txnId,
    client_ref_id: transaction.clientRefId,
    status: transaction.state,
    amount: toInr(transaction.amountPaise),
    utr: transaction.utr,
    beneficiary_name: transaction.beneficiaryName,
    beneficiary_account: transaction.beneficiaryAccount,
    created_at: timestamp(transaction.createdAtMs, dialect),
    completed_at: completedAt(transaction, dialect),
  },
});

/** undefined where the field is absent. */
function completedAt({ completedAtMs }: Transaction, dialect: Dialect): string | null | undefined {
  if (completedAtMs !== null) return timestamp(completedAtMs, dialect);
  return dialect.status.completed_at_while_pending === 'absent' ? undefined : null;
}

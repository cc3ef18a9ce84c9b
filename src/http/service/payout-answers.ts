import type { Dialect } from '../../contract/dialect.ts';
import type { BalanceAnswer, InitiateAnswer, StatusAnswer } from '../../contract/service.ts';
import { invariant } from '../../payout/invariant.ts';
import { toInr } from '../../payout/money.ts';
import type { Payout } from '../../payout/payout.ts';
import type { Answer } from '../../world/requests.ts';

/** The bodies of the service's 200s, in the words of the interface. */

const INITIATE_MESSAGE = 'Payout initiated successfully';

/** ISO 8601 in UTC, with milliseconds or whole seconds. */
function timestamp(atMs: number, { answers }: Dialect): string {
  const text = new Date(atMs).toISOString();
  return answers.timestamps === 'seconds' ? text.replace(/\.\d+/, '') : text;
}

function payoutOf(answer: Answer): Payout {
  invariant(answer.kind === 'payout', 'an initiate and a status are answered with a payout');
  return answer.payout;
}

/** What initiate and status both answer. */
const inBoth = (payout: Payout) => ({
  txn_id: payout.txnId,
  client_ref_id: payout.clientRefId,
  status: payout.state,
  amount: toInr(payout.amountPaise),
  utr: payout.utr,
});

export function initiateAnswer(answer: Answer, dialect: Dialect): InitiateAnswer {
  const payout = payoutOf(answer);
  return {
    status: 'success',
    message: INITIATE_MESSAGE,
    data: {
      ...inBoth(payout),
      created_at: timestamp(payout.createdAtMs, dialect),
    },
  };
}

export function balanceAnswer(answer: Answer, dialect: Dialect): BalanceAnswer {
  invariant(answer.kind === 'balance', 'a balance is answered with a balance');
  const { balancePaise, lastUpdatedMs } = answer;
  return {
    status: 'success',
    data: { balance: toInr(balancePaise), currency: 'INR', last_updated: timestamp(lastUpdatedMs, dialect) },
  };
}

export function statusAnswer(answer: Answer, dialect: Dialect): StatusAnswer {
  const payout = payoutOf(answer);
  return {
    status: 'success',
    data: {
      ...inBoth(payout),
      beneficiary_name: payout.beneficiaryName,
      beneficiary_account: payout.beneficiaryAccount,
      created_at: timestamp(payout.createdAtMs, dialect),
      completed_at: completedAt(payout, dialect),
    },
  };
}

/** undefined where the field is absent. */
function completedAt({ completedAtMs }: Payout, dialect: Dialect): string | null | undefined {
  if (completedAtMs !== null) return timestamp(completedAtMs, dialect);
  return dialect.status.completed_at_while_pending === 'absent' ? undefined : null;
}

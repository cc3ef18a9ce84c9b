import type { TransactionAnswer } from '../../contract/control-answers.ts';
import type { State, TransferMode } from '../../contract/service.ts';

export interface PayoutFilter {
  /** Searched in reference, ids, name and account. */
  readonly text: string;
  /** `at-risk`: made, although the client saw a failure. */
  readonly state: State | 'at-risk' | '';
  readonly mode: TransferMode | '';
  /** INR, as typed; empty for no bound. */
  readonly atLeast: string;
  readonly atMost: string;
}

export const NO_FILTER: PayoutFilter = { text: '', state: '', mode: '', atLeast: '', atMost: '' };

/** Whether a typed amount is neither empty nor a number. */
export const isNoAmount = (typed: string): boolean => Number.isNaN(Number(typed.replaceAll(/[,₹\s]/g, '')));

const bound = (typed: string, otherwise: number): number => {
  const inr = Number(typed.replaceAll(/[,₹\s]/g, ''));
  return typed.trim() === '' || Number.isNaN(inr) ? otherwise : inr;
};

/**
 * The payouts that match a filter; the same array if all match.
 *
 * @param atRisk the payouts that were made although their client saw a failure, by txn_id
 */
export function wantedPayouts(
  rows: readonly TransactionAnswer[],
  { text, state, mode, atLeast, atMost }: PayoutFilter,
  atRisk: Pick<ReadonlyMap<string, unknown>, 'has'>,
): readonly TransactionAnswer[] {
  const [min, max] = [bound(atLeast, -Infinity), bound(atMost, Infinity)];
  const wanted = text.trim().toLowerCase();
  if (wanted === '' && state === '' && mode === '' && min === -Infinity && max === Infinity) return rows;
  return rows.filter(
    (row) =>
      (state === '' || (state === 'at-risk' ? atRisk.has(row.txn_id) : row.status === state)) &&
      (mode === '' || row.transfer_mode === mode) &&
      row.amount >= min &&
      row.amount <= max &&
      (wanted === '' ||
        [row.client_ref_id, row.txn_id, row.utr ?? '', row.beneficiary_name, row.beneficiary_account].some(
          (value) => value.toLowerCase().includes(wanted),
        )),
  );
}

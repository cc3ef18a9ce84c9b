import type { TransactionResponse } from '../../contract/control-responses.ts';
import type { State, TransferMode } from '../../contract/service.ts';
import { parseAmount } from '../ui/amounts.ts';

export interface PayoutFilter {
  /** Searched in reference, ids, name and account. */
  readonly text: string;
  /** `at-risk`: made, and no response has told the client. */
  readonly state: State | 'at-risk' | '';
  readonly mode: TransferMode | '';
  /** INR, as typed; empty for no limit. */
  readonly atLeast: string;
  readonly atMost: string;
}

export const NO_FILTER: PayoutFilter = { text: '', state: '', mode: '', atLeast: '', atMost: '' };

/** Whether a typed limit is neither empty nor an amount. */
export const isNoLimit = (typed: string): boolean => typed.trim() !== '' && parseAmount(typed) === null;

/** The payouts that match a filter; the same array if all match. */
export function wantedPayouts(
  rows: readonly TransactionResponse[],
  { text, state, mode, atLeast, atMost }: PayoutFilter,
): readonly TransactionResponse[] {
  const [min, max] = [parseAmount(atLeast) ?? -Infinity, parseAmount(atMost) ?? Infinity];
  const wanted = text.trim().toLowerCase();
  if (wanted === '' && state === '' && mode === '' && min === -Infinity && max === Infinity) return rows;
  return rows.filter(
    (row) =>
      (state === '' || (state === 'at-risk' ? row.at_risk : row.status === state)) &&
      (mode === '' || row.transfer_mode === mode) &&
      row.amount >= min &&
      row.amount <= max &&
      (wanted === '' ||
        [row.client_ref_id, row.txn_id, row.utr ?? '', row.beneficiary_name, row.beneficiary_account].some(
          (value) => value.toLowerCase().includes(wanted),
        )),
  );
}

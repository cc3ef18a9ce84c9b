import type { TransactionResponse } from '../../contract/control-responses.ts';
import type { State, TransferMode } from '../../contract/service.ts';
import { parseAmount } from '../ui/formats.ts';
import { matcher, NO_LIST_FILTER, type ListFilter } from '../lists/list-filter.ts';

export interface PayoutFilter extends ListFilter {
  /** `at-risk`: made, and no response has told the client. */
  readonly state: State | 'at-risk' | '';
  readonly mode: TransferMode | '';
  /** INR, as typed; empty for no limit. */
  readonly atLeast: string;
  readonly atMost: string;
}

export const NO_FILTER: PayoutFilter = { ...NO_LIST_FILTER, state: '', mode: '', atLeast: '', atMost: '' };

/** Whether a typed limit is neither empty nor an amount. */
export const isNoLimit = (typed: string): boolean => typed.trim() !== '' && parseAmount(typed) === null;

export function wantedPayouts(
  rows: readonly TransactionResponse[],
  filter: PayoutFilter,
): readonly TransactionResponse[] {
  const { state, mode, atLeast, atMost } = filter;
  const [min, max] = [parseAmount(atLeast) ?? -Infinity, parseAmount(atMost) ?? Infinity];
  const isWanted = matcher<TransactionResponse>(
    filter,
    (row) => row.created_at,
    (row) => [row.client_ref_id, row.txn_id, row.utr, row.beneficiary_name, row.beneficiary_account],
  );
  return rows.filter(
    (row) =>
      (state === '' || (state === 'at-risk' ? row.at_risk : row.status === state)) &&
      (mode === '' || row.transfer_mode === mode) &&
      row.amount >= min &&
      row.amount <= max &&
      isWanted(row),
  );
}

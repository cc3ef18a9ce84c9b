import type { TransactionResponse } from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';
import type { Mark } from '../store/payout-list.ts';
import { matcher, NO_LIST_FILTER, type ListFilter } from '../lists/list-filter.ts';

export interface PayoutFilter extends ListFilter {
  readonly state: State | Mark | '';
}

export const NO_FILTER: PayoutFilter = { ...NO_LIST_FILTER, state: '' };

export const isMark = (state: string): state is Mark => state === 'at_risk' || state === 'out_of_date';

export function wantedPayouts(
  rows: readonly TransactionResponse[],
  { state, text }: PayoutFilter,
): readonly TransactionResponse[] {
  const isWanted = matcher<TransactionResponse>(text, (row) => [
    row.client_ref_id,
    row.txn_id,
    row.utr,
    row.beneficiary_name,
    row.beneficiary_account,
  ]);
  return rows.filter(
    (row) => (state === '' || (isMark(state) ? row[state] : row.status === state)) && isWanted(row),
  );
}

import { STATES } from '../../client/payout-wait.ts';
import type { TransactionResponse } from '../../contract/control-responses.ts';
import { FirstSteps } from '../overview/first-steps.tsx';
import { NO_FILTER as NO_REQUEST_FILTER, wantedRequests } from '../requests/request-filter.ts';
import { address, openPayout, showRequestsOf, useFilter } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import { isUnreachable } from '../store/event-feed.ts';
import { KnowsMark, knowsText, StateMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { grouped } from '../../contract/words.ts';
import { Amount, Moment } from '../ui/marks.tsx';
import { ListView, type ListKind } from '../lists/list-view.tsx';
import { column } from '../lists/virtual-table.tsx';
import table from '../lists/table.module.css';
import { isMark, NO_FILTER, wantedPayouts, type PayoutFilter } from './payout-filter.ts';
import { PayoutPanel } from './payout-panel.tsx';

const PAYOUTS: ListKind<TransactionResponse, PayoutFilter> = {
  title: 'Payouts',
  searched: 'reference, id, name, account, UTR',
  none: NO_FILTER,
  wanted: wantedPayouts,
  listed: ({ payouts }, id) => payouts.get(id),
  read: ({ world }, id) =>
    world.transaction(id).catch((error: unknown) => {
      if (isUnreachable(error)) throw error;
      return undefined;
    }),
  unknown: 'This world has no payout',
  layout: table.payouts,
  keyOf: (row) => row.txn_id,
  nameOf: (row) => row.client_ref_id,
  isAtRisk: (row) => row.at_risk,
  columns: [
    column('Reference', table.main, 'client_ref_id'),
    column('Client knows', table.knows, knowsText, (row) => <KnowsMark payout={row} />),
    column('Amount', table.amount, 'amount', (row) => <Amount inr={row.amount} />),
    column('State', table.state, 'status', (row) => <StateMark state={row.status} />),
    column('Mode', table.extra, 'transfer_mode'),
    column('Beneficiary', table.second, 'beneficiary_name'),
    column('UTR', `${table.extra} ${table.code}`, 'utr'),
    column('Created, IST', table.when, 'created_at', (row) => <Moment at={row.created_at} isShort />),
  ],
};

/** A refused payout is no payout: it is found in the requests. */
function OfRefused({ text }: { readonly text: string }) {
  const found = wantedRequests(useLive().requests.rows.value, { ...NO_REQUEST_FILTER, text });
  if (text.trim() === '' || found.length === 0) return null;
  return (
    <Button isLocal act={() => showRequestsOf(text)}>
      Show the requests that have it
    </Button>
  );
}

export function PayoutsView() {
  const live = useLive();
  const [filter, setFilter] = useFilter('payouts', NO_FILTER);
  const before = live.payouts.before.value;
  const mark = isMark(filter.state) ? filter.state : null;
  const rows = mark === null ? live.payouts.rows.value : live.payouts.marked[mark].value;
  return (
    <ListView
      kind={PAYOUTS}
      rows={rows}
      missing={before > 0 && mark === null ? `, ${grouped(before)} older not loaded` : ''}
      filter={filter}
      setFilter={setFilter}
      choices={
        <Choice
          label="State"
          value={filter.state}
          options={[
            ['', 'Any state'],
            ['at_risk', 'At risk'],
            ['out_of_date', 'Out of date'],
            ...named(STATES),
          ]}
          onChoose={(state) => setFilter({ ...filter, state })}
        />
      }
      empty={live.payouts.rows.value.length > 0 ? null : <FirstSteps />}
      noMatch="No payout matches this search and these filters."
      elsewhere={<OfRefused text={filter.text} />}
      opened={address.value.payout}
      onOpen={openPayout}
      panelTitle={(row) => row.client_ref_id}
      panel={(row) => <PayoutPanel payout={row} />}
    />
  );
}

import { STATES } from '../../client/payout-wait.ts';
import type { TransactionResponse } from '../../contract/control-responses.ts';
import { PayoutCurl } from '../control-bar/payout-curl.tsx';
import { MODES } from '../control-bar/sending.ts';
import { address, openPayout, useFilter } from '../shell/navigation.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { isUnreachable } from '../store/event-feed.ts';
import { KnowsMark, knowsText, StateMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { grouped } from '../../contract/words.ts';
import { noAmountText } from '../ui/formats.ts';
import { Amount, Moment } from '../ui/marks.tsx';
import { ListView, type ListKind } from '../lists/list-view.tsx';
import { column } from '../lists/virtual-table.tsx';
import table from '../lists/table.module.css';
import { isNoLimit, NO_FILTER, wantedPayouts, type PayoutFilter } from './payout-filter.ts';
import { PayoutPanel } from './payout-panel.tsx';

const PAYOUTS: ListKind<TransactionResponse, PayoutFilter> = {
  title: 'Payouts',
  searched: 'reference, id, name, account, UTR',
  none: NO_FILTER,
  more: ['atLeast', 'atMost', 'from', 'to'],
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
    column('Account', table.wide, 'beneficiary_account'),
    column('UTR', `${table.extra} ${table.code}`, 'utr'),
    column('Transaction', `${table.wide} ${table.code}`, 'txn_id'),
    column('Planned by', table.wide, 'planned_by'),
    column(
      'Completed, IST',
      table.wide,
      'completed_at',
      (row) => row.completed_at && <Moment at={row.completed_at} isShort />,
    ),
    column('Created, IST', table.when, 'created_at', (row) => <Moment at={row.created_at} isShort />),
  ],
};

const NoPayouts = () => (
  <>
    <p>
      <strong>No payouts yet.</strong> Point your client at <code>{useLive().world.url}</code> with this key,
      press <kbd>p</kbd>, or paste this into a terminal. The payout appears here at once.
    </p>
    <PayoutCurl />
  </>
);

export function PayoutsView() {
  const live = useLive();
  const [filter, setFilter] = useFilter('payouts', NO_FILTER);
  const older = useAction();
  const before = live.payouts.before.value;
  const isRisk = filter.state === 'at-risk';
  const isAnyAtRisk = live.summary.value?.at_risk.count !== 0;
  const rows = isRisk && before > 0 ? live.atRisk.value : live.payouts.rows.value;
  const change = (part: Partial<PayoutFilter>): void => setFilter({ ...filter, ...part });
  const unread = [filter.atLeast, filter.atMost].find(isNoLimit);
  const limit = (name: 'atLeast' | 'atMost', label: string, placeholder: string) => (
    <input
      inputMode="decimal"
      aria-label={label}
      aria-invalid={isNoLimit(filter[name])}
      aria-describedby={isNoLimit(filter[name]) ? 'no-limit' : undefined}
      placeholder={placeholder}
      value={filter[name]}
      onInput={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <ListView
      kind={PAYOUTS}
      rows={rows}
      missing={before > 0 && !isRisk ? `, ${grouped(before)} older not loaded` : ''}
      filter={filter}
      setFilter={setFilter}
      actions={
        before > 0 &&
        !isRisk && (
          <Button kind="small" isBusy={older.isBusy} act={() => older.run(() => live.loadOlder())}>
            Load older
          </Button>
        )
      }
      choices={
        <>
          <Choice
            label="State"
            value={filter.state}
            options={[['', 'Any state'], ['at-risk', 'At risk'], ...named(STATES)]}
            onChoose={(state) => change({ state })}
          />
          <Choice
            label="Mode"
            value={filter.mode}
            options={[['', 'Any mode'], ...named(MODES)]}
            onChoose={(mode) => change({ mode })}
          />
        </>
      }
      more={
        <>
          {limit('atLeast', 'Amount from, rupees', '₹ from')}
          {limit('atMost', 'Amount to, rupees', '₹ to')}
          {unread !== undefined && (
            <p class="notice" id="no-limit">
              {noAmountText(unread)}
            </p>
          )}
        </>
      }
      empty={isRisk ? null : <NoPayouts />}
      noMatch={
        isRisk && !isAnyAtRisk
          ? 'The client has been told of every payout that was made.'
          : 'No payout matches this search and these filters.'
      }
      opened={address.value.payout}
      onOpen={openPayout}
      panelTitle={(row) => row.client_ref_id}
      panel={(row) => <PayoutPanel payout={row} />}
    />
  );
}

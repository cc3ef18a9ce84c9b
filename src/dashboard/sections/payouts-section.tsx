import { useEffect, useMemo, useState } from 'preact/hooks';
import type { TransactionAnswer } from '../../contract/control-answers.ts';
import type { State, TransferMode } from '../../contract/service.ts';
import { useAction } from '../live/action.ts';
import { RiskBadge, StateBadge } from '../detail/badges.tsx';
import { CopyButton } from '../detail/copy-button.tsx';
import { DetailPane } from '../detail/detail-pane.tsx';
import { Moment } from '../detail/moment.tsx';
import { counted, countedOf, rupees } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { useFilter } from '../live/navigation.ts';
import { PayoutDetail } from '../detail/payout-detail.tsx';
import { isNoAmount, NO_FILTER, wantedPayouts, type PayoutFilter } from '../lists/payout-filter.ts';
import { curlOfPayout, MODES, SAMPLE_PAYOUT } from './sample-payout.ts';
import type { Risk } from '../lists/request-list.ts';
import { VirtualTable } from '../lists/virtual-table.tsx';

const STATES = ['PENDING', 'SUCCESS', 'FAILED', 'REVERSED'] as const satisfies readonly State[];

const columnsFor = (atRisk: ReadonlyMap<string, Risk>) => [
  {
    name: 'Reference',
    className: 'main',
    cell: (row: TransactionAnswer) => row.client_ref_id,
    beside: ({ txn_id: id }: TransactionAnswer) => {
      const risk = atRisk.get(id);
      return risk === undefined ? null : <RiskBadge risk={risk} />;
    },
  },
  { name: 'Beneficiary', className: 'second', cell: (row: TransactionAnswer) => row.beneficiary_name },
  { name: 'Mode', className: 'mode', cell: (row: TransactionAnswer) => row.transfer_mode },
  { name: 'Amount', className: 'amount number', cell: (row: TransactionAnswer) => rupees(row.amount) },
  { name: 'State', className: 'state', cell: (row: TransactionAnswer) => <StateBadge state={row.status} /> },
  { name: 'UTR', className: 'utr number', cell: (row: TransactionAnswer) => row.utr ?? '–' },
  {
    name: 'Created, IST',
    className: 'when number',
    cell: (row: TransactionAnswer) => <Moment at={row.created_at} isShort />,
  },
];

/** Shown while there are no payouts: how to make one. */
function NoPayouts({ live }: { readonly live: LiveWorld }) {
  const curl = curlOfPayout(live.world.url, live.world.apiKey, SAMPLE_PAYOUT);
  return (
    <div class="teach">
      <p>
        <strong>No transactions yet.</strong> Point your client at <code>{live.world.url}</code> with this
        key, pay with the form “Try it”, or paste this into a terminal. The payout appears here at once.
      </p>
      <pre tabIndex={0} aria-label="A payout as curl">
        {curl}
      </pre>
      <CopyButton label="Copy" text={() => curl} />
    </div>
  );
}

/** The open payout, even if it is too old to be in the list. */
function useOpened(live: LiveWorld, txnId: string | null): TransactionAnswer | undefined {
  const [old, setOld] = useState<TransactionAnswer | null>(null);
  const listed = txnId === null ? undefined : live.payouts.get(txnId);
  const isOld = txnId !== null && listed === undefined;
  useEffect(() => {
    if (!isOld) return;
    live.world.transaction(txnId).then(setOld, () => setOld(null)); // after a reset it no longer exists
  }, [live, txnId, isOld]);
  return listed ?? (isOld && old?.txn_id === txnId ? old : undefined);
}

interface Props {
  readonly live: LiveWorld;
  readonly opened: string | null;
  readonly onOpen: (txnId: string | null) => void;
  readonly onOpenRequest: (id: number) => void;
}

/** All payouts of the world, live. */
export function PayoutsSection({ live, opened, onOpen, onOpenRequest }: Props) {
  const [filter, setFilter] = useFilter('payouts', NO_FILTER);
  const older = useAction();
  const version = live.payoutsVersion.value;
  const { rows, before } = live.payouts;
  const { atRisk } = live.requests;
  const risks = live.requestsVersion.value;
  const shown = useMemo(() => wantedPayouts(rows, filter, atRisk), [rows, filter, version, risks]);
  const columns = useMemo(() => columnsFor(atRisk), [atRisk]);
  const payout = useOpened(live, opened);
  const change = (part: Partial<typeof NO_FILTER>): void => setFilter({ ...filter, ...part });
  const isEmpty = live.isLoaded.value && rows.length === 0;

  return (
    <section id="payouts" class="card lists" aria-labelledby="payouts-title">
      <header class="card-head">
        <h2 id="payouts-title">Transactions</h2>
        <p class="note" role="status">
          {countedOf(shown.length, rows.length)}
          {before > 0 && `, ${counted(before)} older not loaded`}
        </p>
        {before > 0 && (
          <button
            type="button"
            class="button small"
            disabled={older.isBusy}
            onClick={() => older.run(() => live.loadOlder())}
          >
            Load older
          </button>
        )}
      </header>
      <div class="filters" role="search" aria-label="Transactions">
        <input
          type="search"
          aria-label="Search reference, id, name, account or UTR"
          placeholder="Search reference, id, name, account, UTR"
          value={filter.text}
          onInput={(event) => change({ text: event.currentTarget.value })}
        />
        <select
          aria-label="State"
          value={filter.state}
          onChange={(event) => change({ state: event.currentTarget.value as PayoutFilter['state'] })}
        >
          <option value="">Any state</option>
          <option value="at-risk">At risk</option>
          {STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
        <select
          aria-label="Mode"
          value={filter.mode}
          onChange={(event) => change({ mode: event.currentTarget.value as TransferMode | '' })}
        >
          <option value="">Any mode</option>
          {MODES.map((mode) => (
            <option key={mode}>{mode}</option>
          ))}
        </select>
        <input
          class="bound"
          inputMode="decimal"
          aria-label="Amount from, rupees"
          aria-invalid={isNoAmount(filter.atLeast)}
          placeholder="₹ from"
          value={filter.atLeast}
          onInput={(event) => change({ atLeast: event.currentTarget.value })}
        />
        <input
          class="bound"
          inputMode="decimal"
          aria-label="Amount to, rupees"
          aria-invalid={isNoAmount(filter.atMost)}
          placeholder="₹ to"
          value={filter.atMost}
          onInput={(event) => change({ atMost: event.currentTarget.value })}
        />
      </div>
      {isEmpty ? (
        <NoPayouts live={live} />
      ) : (
        <div class={payout === undefined ? 'split' : 'split open'}>
          {shown.length === 0 && live.isLoaded.value ? (
            <div class="nothing">
              <p>
                <strong>Nothing matches.</strong>{' '}
                {filter.state === 'at-risk'
                  ? 'No payout was made while its client saw a failure.'
                  : 'No transaction fits this search and these filters.'}
              </p>
              <button type="button" class="button" onClick={() => setFilter(NO_FILTER)}>
                Show all
              </button>
            </div>
          ) : (
            <VirtualTable
              label="Transactions, newest first"
              rows={shown}
              columns={columns}
              isAtRisk={(row) => atRisk.has(row.txn_id)}
              keyOf={(row) => row.txn_id}
              nameOf={(row) => row.client_ref_id}
              opened={opened}
              onOpen={onOpen}
            />
          )}
          {payout !== undefined && (
            <DetailPane title={payout.client_ref_id} onClose={() => onOpen(null)}>
              <PayoutDetail live={live} payout={payout} onOpenRequest={onOpenRequest} />
            </DetailPane>
          )}
        </div>
      )}
    </section>
  );
}

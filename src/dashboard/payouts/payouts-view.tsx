import { useEffect, useMemo, useState } from 'preact/hooks';
import type { TransactionResponse } from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';
import { curlOfPayout, MODES, SAMPLE_PAYOUT } from '../control-bar/sending.ts';
import { address, openPayout, useFilter } from '../shell/navigation.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { isUnreachable } from '../store/event-feed.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { KnowsMark, StateMark } from '../ui/badges.tsx';
import { Button, CopyButton } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { counted, countedOf } from '../ui/formats.ts';
import { Amount, Foreign, Moment } from '../ui/marks.tsx';
import { Panel } from '../ui/panel.tsx';
import { VirtualTable } from '../ui/virtual-table.tsx';
import table from '../ui/table.module.css';
import { isNoLimit, NO_FILTER, wantedPayouts, type PayoutFilter } from './payout-filter.ts';
import { PayoutPanel } from './payout-panel.tsx';

const STATES = ['PENDING', 'SUCCESS', 'FAILED', 'REVERSED'] as const satisfies readonly State[];

const COLUMNS = [
  {
    name: 'Reference',
    className: table.main,
    cell: (row: TransactionResponse) => <Foreign text={row.client_ref_id} />,
  },
  {
    name: 'Client knows',
    className: table.knows,
    cell: (row: TransactionResponse) => <KnowsMark payout={row} />,
  },
  {
    name: 'Amount',
    className: table.amount,
    cell: (row: TransactionResponse) => <Amount inr={row.amount} />,
  },
  {
    name: 'State',
    className: table.state,
    cell: (row: TransactionResponse) => <StateMark state={row.status} />,
  },
  { name: 'Mode', className: table.extra, cell: (row: TransactionResponse) => row.transfer_mode },
  {
    name: 'Beneficiary',
    className: table.second,
    cell: (row: TransactionResponse) => <Foreign text={row.beneficiary_name} />,
  },
  { name: 'UTR', className: table.extra, cell: (row: TransactionResponse) => <code>{row.utr ?? '–'}</code> },
  {
    name: 'Created, IST',
    className: table.when,
    cell: (row: TransactionResponse) => <Moment at={row.created_at} isShort />,
  },
];

/** Shown while there are no payouts: how to make one. */
function NoPayouts() {
  const { world } = useLive();
  const curl = curlOfPayout(world.url, world.apiKey, SAMPLE_PAYOUT);
  return (
    <div class="nothing">
      <p>
        <strong>No payouts yet.</strong> Point your client at <code>{world.url}</code> with this key, press{' '}
        <kbd>p</kbd>, or paste this into a terminal. The payout appears here at once.
      </p>
      <pre tabIndex={0} aria-label="A payout as curl">
        {curl}
      </pre>
      <CopyButton label="Copy" text={() => curl} />
    </div>
  );
}

/** The open payout, also if it is too old to be in the list. One that does not exist, as after a reset, is closed. */
function useOpened(live: LiveWorld, txnId: string | null): TransactionResponse | undefined {
  const [old, setOld] = useState<TransactionResponse | null>(null);
  const listed = live.payouts.rows.value && txnId !== null ? live.payouts.get(txnId) : undefined;
  const isOld = txnId !== null && listed === undefined && live.isLoaded.value;
  const changed = live.summary.value; // read again with every change of the world
  useEffect(() => {
    if (!isOld) return;
    live.world.transaction(txnId).then(setOld, (error: unknown) => {
      if (!isUnreachable(error) && address.value.payout === txnId) openPayout(null);
    });
  }, [live, txnId, isOld, changed]);
  return listed ?? (isOld && old?.txn_id === txnId ? old : undefined);
}

/** The payouts that a filter can find. Those at risk are asked for, since they may be older than the others on the page. */
function useRows(live: LiveWorld, { state }: PayoutFilter): readonly TransactionResponse[] {
  const [atRisk, setAtRisk] = useState<readonly TransactionResponse[]>([]);
  const rows = live.payouts.rows.value;
  const isRisk = state === 'at-risk' && live.payouts.before.value > 0;
  const count = live.summary.value?.at_risk.count;
  useEffect(() => {
    if (isRisk) live.atRisk().then(setAtRisk, () => undefined);
  }, [live, isRisk, count]);
  return isRisk ? atRisk : rows;
}

const useWanted = (rows: readonly TransactionResponse[], filter: PayoutFilter): typeof rows =>
  useMemo(() => wantedPayouts(rows, filter), [rows, filter]);

/** All payouts of the world, live. */
export function PayoutsView() {
  const live = useLive();
  const [filter, setFilter] = useFilter('payouts', NO_FILTER);
  const older = useAction();
  const opened = address.value.payout;
  const rows = useRows(live, filter);
  const before = live.payouts.before.value;
  const shown = useWanted(rows, filter);
  const payout = useOpened(live, opened);
  const isLoaded = live.isLoaded.value;
  const change = (part: Partial<typeof NO_FILTER>): void => setFilter({ ...filter, ...part });

  const limit = (name: 'atLeast' | 'atMost', label: string, placeholder: string) => (
    <input
      inputMode="decimal"
      aria-label={label}
      aria-invalid={isNoLimit(filter[name])}
      placeholder={placeholder}
      value={filter[name]}
      onInput={(event) => change({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <section class="view" aria-labelledby="payouts-title">
      <header class="view-head">
        <h2 id="payouts-title">Payouts</h2>
        <p class="note" role="status">
          {isLoaded && countedOf(shown.length, rows.length)}
          {before > 0 && `, ${counted(before)} older not loaded`}
        </p>
        {before > 0 && (
          <Button kind="small" isBusy={older.isBusy} act={() => older.run(() => live.loadOlder())}>
            Load older
          </Button>
        )}
        <div class="filters" role="search" aria-label="Payouts">
          <input
            type="search"
            aria-label="Search reference, id, name, account or UTR"
            placeholder="Search reference, id, name, account, UTR  /"
            value={filter.text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
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
          {limit('atLeast', 'Amount from, rupees', '₹ from')}
          {limit('atMost', 'Amount to, rupees', '₹ to')}
        </div>
      </header>
      <div class="split" data-open={payout === undefined ? undefined : ''}>
        {!isLoaded ? (
          <div class="loading" role="status">
            Loading
          </div>
        ) : rows.length === 0 && filter.state !== 'at-risk' ? (
          <NoPayouts />
        ) : shown.length === 0 ? (
          <div class="nothing">
            <p>
              <strong>Nothing matches.</strong>{' '}
              {filter.state === 'at-risk'
                ? 'The client has been told of every payout that was made.'
                : 'No payout fits this search and these filters.'}
            </p>
            <Button isLocal act={() => setFilter(NO_FILTER)}>
              Show all
            </Button>
          </div>
        ) : (
          <VirtualTable
            label="Payouts, newest first"
            layout={table.payouts}
            rows={shown}
            columns={COLUMNS}
            isAtRisk={(row) => row.at_risk}
            keyOf={(row) => row.txn_id}
            nameOf={(row) => row.client_ref_id}
            opened={opened}
            onOpen={openPayout}
          />
        )}
        {payout !== undefined && (
          <Panel title={payout.client_ref_id} onClose={() => openPayout(null)}>
            <PayoutPanel payout={payout} />
          </Panel>
        )}
      </div>
    </section>
  );
}

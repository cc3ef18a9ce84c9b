import type { TransactionResponse } from '../../contract/control-responses.ts';
import { openPayout, showPayouts } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import { KnowsMark, StateMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { counted, grouped, rupees } from '../../contract/words.ts';
import { Amount, Foreign, Moment, Refusal } from '../ui/marks.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Ribbon } from './ribbon.tsx';
import css from './overview.module.css';

const MOST_SHOWN = 10;

interface FigureProps {
  readonly name: string;
  readonly amount: number | undefined;
  readonly note: string | null;
}

const Figure = ({ name, amount, note }: FigureProps) => (
  <div class={css.figure}>
    <dt>{name}</dt>
    <dd>{amount === undefined ? '…' : <Amount inr={amount} />}</dd>
    <dd class="note">{note ?? '…'}</dd>
  </div>
);

interface ShortListProps {
  readonly label: string;
  readonly rows: readonly TransactionResponse[];
}

const ShortList = ({ label, rows }: ShortListProps) => (
  <ul class={css.short} aria-label={label}>
    {rows.map((row) => (
      <li key={row.txn_id}>
        <Button kind="link" isLocal act={() => openPayout(row.txn_id)}>
          <Foreign text={row.client_ref_id} />
        </Button>
        <KnowsMark payout={row} />
        <StateMark state={row.status} />
        <Amount inr={row.amount} />
        <span class="dim">
          <Moment at={row.created_at} isShort />
        </span>
      </li>
    ))}
  </ul>
);

/** The world at a glance: its money, its time, what is at risk, and the latest payouts. */
export function Overview() {
  const live = useLive();
  const wallet = live.wallet.value;
  const { transactions: counts, invariants, at_risk: risk } = live.summary.value ?? {};
  const rows = live.payouts.rows.value;
  const stated = (count: number | undefined, state: string): string | null =>
    count === undefined ? null : `${grouped(count)} ${state}`;
  return (
    <section class="view scrolling" aria-labelledby="overview-title">
      <h2 id="overview-title" class="unseen">
        Overview
      </h2>
      <dl class={css.figures} aria-label="Wallet">
        <Figure
          name="Balance"
          amount={wallet?.balance}
          note={wallet === null ? null : `opened with ${rupees(wallet.opening_balance)}`}
        />
        <Figure name="In flight" amount={wallet?.in_flight} note={stated(counts?.PENDING, 'PENDING')} />
        <Figure name="Paid out" amount={wallet?.paid_out} note={stated(counts?.SUCCESS, 'SUCCESS')} />
        <Figure
          name="Returned"
          amount={wallet?.came_back}
          note={counts ? `${grouped(counts.FAILED)} FAILED, ${grouped(counts.REVERSED)} REVERSED` : null}
        />
      </dl>
      {Array.isArray(invariants) && (
        <Refusal text={`The ledger is wrong, which is a bug in the sandbox: ${invariants.join('; ')}`} />
      )}
      {!live.isLoaded.value ? (
        <p class="loading" role="status">
          Loading
        </p>
      ) : (
        <>
          <Ribbon />
          {rows.length === 0 && <FirstSteps />}
          <div class="blocks">
            {risk!.count > 0 && (
              <div class="block">
                <header>
                  <h3>At risk</h3>
                  <span class="note">
                    {counted(risk!.count, 'payout')}, {rupees(risk!.amount)}: no response has told your client
                  </span>
                  <Button kind="link" isLocal act={() => showPayouts('at_risk')}>
                    All at risk
                  </Button>
                </header>
                <ShortList
                  label="Payouts at risk"
                  rows={live.payouts.marked.at_risk.value.slice(0, MOST_SHOWN)}
                />
              </div>
            )}
            {rows.length > 0 && (
              <div class="block">
                <header>
                  <h3>Latest payouts</h3>
                  <Button kind="link" isLocal act={() => showPayouts()}>
                    All payouts
                  </Button>
                </header>
                <ShortList label="Latest payouts" rows={rows.slice(0, MOST_SHOWN)} />
              </div>
            )}
          </div>
        </>
      )}
    </section>
  );
}

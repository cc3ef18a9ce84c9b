import type { TransactionResponse } from '../../contract/control-responses.ts';
import type { State } from '../../contract/service.ts';
import { openPayout, showPayouts } from '../shell/navigation.ts';
import { useLive } from '../store/current-world.ts';
import type { Mark } from '../store/payout-list.ts';
import { KnowsMark, StateMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { grouped, rupees } from '../../contract/words.ts';
import { Amount, Foreign, Moment, Refusal } from '../ui/marks.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Ribbon } from './ribbon.tsx';
import css from './overview.module.css';

const MOST_SHOWN = 10;

interface ShortListProps {
  readonly title: string;
  readonly note: string;
  readonly rows: readonly TransactionResponse[];
  /** How many there are, also of those that are not loaded. */
  readonly count: number;
  readonly mark?: Mark;
}

/** The newest of some payouts, with a link to the others. */
const ShortList = ({ title, note, rows, count, mark }: ShortListProps) =>
  count > 0 && (
    <div class="block">
      <header>
        <h3>{title}</h3>
        <span class="note">{note}</span>
      </header>
      <ul class={css.short} aria-label={title}>
        {rows.slice(0, MOST_SHOWN).map((row) => (
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
      {count > MOST_SHOWN && (
        <Button kind="link" isLocal act={() => showPayouts(mark)}>
          {grouped(count - MOST_SHOWN)} more
        </Button>
      )}
    </div>
  );

/** The world at a glance: its money, its time, what is at risk, and the latest payouts. */
export function Overview() {
  const live = useLive();
  const wallet = live.wallet.value;
  const { transactions: counts, invariants, at_risk: risk } = live.summary.value ?? {};
  const { marked, before } = live.payouts;
  const rows = live.payouts.rows.value;
  const stated = (...states: readonly State[]) =>
    counts && states.map((state) => `${grouped(counts[state])} ${state}`).join(', ');
  const figures = [
    ['Balance', wallet?.balance, wallet && `opened with ${rupees(wallet.opening_balance)}`],
    ['In flight', wallet?.in_flight, stated('PENDING')],
    ['Paid out', wallet?.paid_out, stated('SUCCESS')],
    ['Returned', wallet?.came_back, stated('FAILED', 'REVERSED')],
  ] as const;
  return (
    <section class="view scrolling" aria-labelledby="overview-title">
      <h2 id="overview-title" class="unseen">
        Overview
      </h2>
      <dl class={css.figures} aria-label="Wallet">
        {figures.map(([name, amount, note]) => (
          <div key={name} class={css.figure}>
            <dt>{name}</dt>
            <dd>{amount === undefined ? '…' : <Amount inr={amount} />}</dd>
            <dd class="note">{note ?? '…'}</dd>
          </div>
        ))}
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
            <ShortList
              title="Payouts at risk"
              note={`${grouped(risk!.count)} · ${rupees(risk!.amount)}: no response has told whoever sent them`}
              rows={marked.at_risk.value}
              count={risk!.count}
              mark="at_risk"
            />
            <ShortList title="Latest payouts" note="" rows={rows} count={rows.length + before.value} />
          </div>
        </>
      )}
    </section>
  );
}

import { useEffect, useState } from 'preact/hooks';
import type { TransactionResponse } from '../../contract/control-responses.ts';
import { MONEY_EFFECTS, moveMoney } from '../control-bar/money-moves.ts';
import { openPayout, showRisk } from '../shell/navigation.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { KnowsMark, StateMark } from '../ui/badges.tsx';
import { Button } from '../ui/button.tsx';
import { grouped, rupees } from '../../contract/words.ts';
import { noAmountText, parseAmount } from '../ui/formats.ts';
import { Amount, Foreign, Moment, Refusal, Skeleton } from '../ui/marks.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Ribbon } from './ribbon.tsx';
import css from './overview.module.css';

const LATEST = 10;
const MOST_RISKS = 6;
const FEW_PAYOUTS = 3;

interface FigureProps {
  readonly name: string;
  readonly amount: number | undefined;
  readonly note: string | null;
}

const Figure = ({ name, amount, note }: FigureProps) => (
  <div class={css.figure}>
    <dt>{name}</dt>
    <dd>{amount === undefined ? <Skeleton width={12} /> : <Amount inr={amount} />}</dd>
    <dd class="note">{note ?? <Skeleton width={10} />}</dd>
  </div>
);

function MoneyForm() {
  const live = useLive();
  const [text, setText] = useState('10,000');
  const { isBusy, refusal, run, clear } = useAction();
  const amount = parseAmount(text);
  useEffect(clear, [live.wallet.value?.balance]); // a refusal names it
  const move = (what: 'credit' | 'debit') => (): void =>
    run(() => moveMoney(live, what, amount!), MONEY_EFFECTS);
  const off = amount === null ? noAmountText(text) : null;
  return (
    <form class={css.money} onSubmit={(event) => event.preventDefault()}>
      <label class="field">
        <span>Amount, ₹</span>
        <input
          inputMode="decimal"
          autoComplete="off"
          value={text}
          aria-invalid={amount === null}
          aria-describedby="money-meaning"
          onInput={(event) => {
            setText(event.currentTarget.value);
            clear();
          }}
        />
      </label>
      <Button isBusy={isBusy} off={off} act={move('credit')}>
        Credit
      </Button>
      <Button isBusy={isBusy} off={off} act={move('debit')}>
        Debit
      </Button>
      <p class="note" id="money-meaning">
        {off ?? rupees(amount!)}
      </p>
      <Refusal text={refusal} />
    </form>
  );
}

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
      <div class={css.head}>
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
            note={stated(counts && counts.FAILED + counts.REVERSED, 'FAILED or REVERSED')}
          />
        </dl>
        <MoneyForm />
      </div>
      {Array.isArray(invariants) && (
        <Refusal text={`Broken invariants, which is a bug in the sandbox: ${invariants.join('; ')}`} />
      )}
      {!live.isLoaded.value ? (
        <p class="loading" role="status">
          Loading
        </p>
      ) : (
        <>
          <Ribbon />
          {rows.length <= FEW_PAYOUTS && <FirstSteps />}
          <div class="blocks">
            {risk!.count > 0 && (
              <div class="block">
                <header>
                  <h3>At risk</h3>
                  <span class="note">
                    {grouped(risk!.count)}, {rupees(risk!.amount)}: made, and no response has told your client
                  </span>
                  <Button kind="small" isLocal act={showRisk}>
                    Show all
                  </Button>
                </header>
                <ShortList label="Payouts at risk" rows={live.atRisk.value?.slice(0, MOST_RISKS) ?? []} />
              </div>
            )}
            {rows.length > 0 && (
              <div class="block">
                <header>
                  <h3>Latest payouts</h3>
                  <a class="note" href="#payouts">
                    All payouts
                  </a>
                </header>
                <ShortList label="Latest payouts" rows={rows.slice(0, LATEST)} />
              </div>
            )}
          </div>
        </>
      )}
    </section>
  );
}

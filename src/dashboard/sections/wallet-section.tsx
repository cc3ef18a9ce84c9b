import { useState } from 'preact/hooks';
import { useAction } from '../live/action.ts';
import { BalanceChart } from '../lists/balance-chart.tsx';
import { counted, rupees } from '../lists/formats.ts';
import { isNoAmount } from '../lists/payout-filter.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { Refusal } from '../detail/refusal.tsx';

interface FigureProps {
  readonly name: string;
  readonly amount: number | undefined;
  readonly note: string;
}

const Figure = ({ name, amount, note }: FigureProps) => (
  <div class="figure">
    <dt>{name}</dt>
    <dd>
      <span class="amount">{amount === undefined ? '…' : rupees(amount)}</span>
      <span class="note">{note}</span>
    </dd>
  </div>
);

/** Credits or debits the wallet. */
function MoneyForm({ live }: { readonly live: LiveWorld }) {
  const [amount, setAmount] = useState('10,000');
  const { isBusy, refusal, run } = useAction();
  const move = (what: 'fund' | 'withdraw') => () =>
    run(async () => {
      if (isNoAmount(amount)) throw new Error(`“${amount}” is not an amount`);
      const { balance } = await live.world[what](Number(amount.replaceAll(',', '')));
      live.news.say(`The balance is ${rupees(balance)}`);
    });
  return (
    <form class="inline-form" onSubmit={(event) => event.preventDefault()}>
      <label for="money">Amount, ₹</label>
      <input
        id="money"
        inputMode="decimal"
        autoComplete="off"
        value={amount}
        aria-invalid={refusal !== null}
        onInput={(event) => setAmount(event.currentTarget.value)}
      />
      <button type="button" class="button" disabled={isBusy} onClick={move('fund')}>
        Credit
      </button>
      <button type="button" class="button" disabled={isBusy} onClick={move('withdraw')}>
        Debit
      </button>
      <Refusal text={refusal} />
    </form>
  );
}

interface Props {
  readonly live: LiveWorld;
  readonly onOpenPayout: (txnId: string) => void;
}

/** The money of the world: the balance, and what is in flight, paid out and returned. */
export function WalletSection({ live, onOpenPayout }: Props) {
  const wallet = live.wallet.value;
  const counts = live.summary.value?.transactions;
  const invariants = live.summary.value?.invariants;
  const back = counts === undefined ? 0 : counts.FAILED + counts.REVERSED;
  return (
    <section id="wallet" class="card" aria-labelledby="wallet-title">
      <header class="card-head">
        <h2 id="wallet-title">Wallet</h2>
        <MoneyForm live={live} />
      </header>
      <dl class="figures">
        <Figure
          name="Balance"
          amount={wallet?.balance}
          note={`opened with ${rupees(wallet?.opening_balance ?? 0)}`}
        />
        <Figure
          name="In flight"
          amount={wallet?.in_flight}
          note={`${counted(counts?.PENDING ?? 0)} PENDING`}
        />
        <Figure name="Paid out" amount={wallet?.paid_out} note={`${counted(counts?.SUCCESS ?? 0)} SUCCESS`} />
        <Figure name="Returned" amount={wallet?.came_back} note={`${counted(back)} FAILED or REVERSED`} />
      </dl>
      {Array.isArray(invariants) && (
        <Refusal text={`Broken invariants, which is a bug in the sandbox: ${invariants.join('; ')}`} />
      )}
      <BalanceChart live={live} onOpenPayout={onOpenPayout} />
    </section>
  );
}

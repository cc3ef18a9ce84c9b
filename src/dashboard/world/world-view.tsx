import { useEffect, useRef, useState } from 'preact/hooks';
import { worldName } from '../shell/address.ts';
import { writtenInr } from '../../contract/words.ts';
import { moveMoney } from '../actions/money-moves.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { noAmountText } from '../ui/formats.ts';
import { Refusal } from '../ui/marks.tsx';
import { useReplacement } from './replacement.tsx';
import { isResetWanted, savePayouts, saveSnapshot } from './world-moves.ts';

/** Credits or debits the balance. */
function MoneyForm() {
  const live = useLive();
  const [text, setText] = useState('10,000');
  const { isBusy, refusal, run, clear } = useAction();
  const amount = writtenInr(text);
  const off = amount === undefined ? noAmountText(text) : null;
  const button = (label: string, what: 'credit' | 'debit') => (
    <Button isBusy={isBusy} off={off} act={() => run(() => moveMoney(live, what, amount!), ['wallet'])}>
      {label}
    </Button>
  );
  return (
    <div class="block">
      <h3>Balance</h3>
      <div class="buttons">
        <input
          inputMode="decimal"
          aria-label="Amount, ₹"
          aria-invalid={off !== null}
          value={text}
          onInput={(event) => {
            setText(event.currentTarget.value);
            clear();
          }}
        />
        {button('Credit', 'credit')}
        {button('Debit', 'debit')}
      </div>
      <Refusal text={off ?? refusal} />
    </div>
  );
}

/** The world as a whole: its balance, reset, snapshots, exports, and what else to read. */
export function WorldView() {
  const live = useLive();
  const file = useRef<HTMLInputElement>(null);
  const { isBusy, refusal, run, replace, question } = useReplacement();

  const reset = (): void =>
    replace({
      verb: 'Reset this world',
      act: async () => {
        await live.world.reset();
        return 'The world was reset.';
      },
    });
  useEffect(() => {
    if (isResetWanted.value) reset();
    isResetWanted.value = false;
  }, [isResetWanted.value]);
  const load = async (): Promise<void> => {
    const [chosen] = file.current!.files ?? [];
    if (chosen === undefined) return;
    const snapshot = await chosen.text();
    file.current!.value = ''; // so that the same file can be chosen again
    const act = async (): Promise<string> => {
      await live.world.restore(snapshot);
      return `${chosen.name} is loaded.`;
    };
    replace({ verb: 'Load the snapshot', act });
  };
  const button = (label: string, act: () => void) => (
    <Button isBusy={isBusy} act={act}>
      {label}
    </Button>
  );
  return (
    <section class="view scrolling" aria-labelledby="world-title">
      <header class="view-head">
        <h2 id="world-title">World</h2>
        <code class="note">{live.summary.value?.name ?? worldName(live.summary.value?.id ?? '')}</code>
        {button('Reset', reset)}
      </header>
      {question}
      <Refusal text={refusal} />
      <div class="blocks">
        <MoneyForm />
        <div class="block">
          <h3>Snapshot</h3>
          <p class="note">
            A snapshot has the whole world: its payouts, its newest requests, and what the client was told.
          </p>
          <div class="buttons">
            {button('Save', () => run(() => saveSnapshot(live)))}
            <span data-load>{button('Load…', () => file.current!.click())}</span>
            <input
              ref={file}
              type="file"
              hidden
              accept=".ndjson,.json"
              aria-label="Snapshot to load"
              onChange={() => void load()}
            />
          </div>
        </div>
        <div class="block">
          <h3>Export</h3>
          <div class="buttons">{button('Payouts (CSV)', () => run(() => savePayouts(live)))}</div>
          <p class="note">
            <a href="./openapi.json">OpenAPI document</a> · guides: the folder <code>docs</code> of the
            package
          </p>
        </div>
      </div>
    </section>
  );
}

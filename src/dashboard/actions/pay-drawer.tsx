import { useEffect, useRef, useState } from 'preact/hooks';
import type { InitiateRequest } from '../../contract/service.ts';
import { hide } from '../shell/overlay.ts';
import { useLive } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { rupees, writtenInr } from '../../contract/words.ts';
import { noAmountText, readable } from '../ui/formats.ts';
import { PayoutCurl } from './payout-curl.tsx';
import { magicBeneficiaries } from './failure-kinds.ts';
import { freshReference, MODES, pay, SAMPLE_PAYOUT, type Outcome } from './sending.ts';
import css from './actions.module.css';

const LABELS = {
  amount: 'Amount, ₹',
  beneficiary_account: 'Account or UPI ID',
  beneficiary_name: 'Beneficiary',
  client_ref_id: 'Reference (empty: a new one)',
  beneficiary_ifsc: 'IFSC',
  remarks: 'Remarks',
} as const;
type FieldName = keyof typeof LABELS;

/** The fields that are folded away. */
const FOLDED = ['client_ref_id', 'beneficiary_ifsc', 'remarks'] as const;

/** What the form had when it was closed. */
let kept = { ...SAMPLE_PAYOUT, client_ref_id: '', amount: '1,500.50', remarks: '' };

/** Makes a payout from the page, and shows the request and the response. */
export function PayDrawer() {
  const live = useLive();
  const [form, setForm] = useState(kept);
  const [fresh, setFresh] = useState(freshReference);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [waiting, setWaiting] = useState<AbortController | null>(null);
  const first = useRef<HTMLFormElement>(null);
  kept = form;
  useEffect(() => first.current!.querySelector<HTMLInputElement>('[name=amount]')!.select(), []);
  useEffect(() => () => waiting?.abort(), [waiting]);

  const magic = magicBeneficiaries(live.scenario.value);
  const magicOptions = magic.map(({ account, text }) => [account, `${text} (${account})`] as const);
  const amount = writtenInr(form.amount);
  const { remarks, client_ref_id: reference, ...fields } = form;
  const payout: InitiateRequest = {
    client_ref_id: reference || fresh,
    ...fields,
    amount: amount ?? 0,
    ...(remarks === '' ? {} : { remarks }),
  };
  const change = (part: Partial<typeof form>): void => {
    setForm({ ...form, ...part });
    setOutcome(null);
  };
  const isMagic = magic.some(({ account }) => account === form.beneficiary_account);
  const send = async (): Promise<void> => {
    const leaving = new AbortController();
    setWaiting(leaving);
    setOutcome(null);
    setOutcome(await pay(live.world, payout, leaving.signal));
    setFresh(freshReference());
    setWaiting(null);
  };

  const submit = (): void => {
    if (waiting === null && amount !== undefined) void send();
  };

  const text = (name: FieldName) => (
    <label class="field">
      <span>{LABELS[name]}</span>
      <input
        name={name}
        autoComplete="off"
        spellcheck={false}
        inputMode={name === 'amount' ? 'decimal' : 'text'}
        value={form[name]}
        aria-invalid={name === 'amount' && amount === undefined}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
      {name === 'amount' && (
        <span class="dim">{amount === undefined ? noAmountText(form.amount) : rupees(amount)}</span>
      )}
    </label>
  );

  return (
    <aside class={css.drawer} aria-labelledby="pay-title">
      <header>
        <h2 id="pay-title">Pay</h2>
        <Button kind="small" isLocal act={hide}>
          Close
        </Button>
      </header>
      <form class={css.form} ref={first} onSubmit={submits(submit)}>
        <label class="field whole">
          <span>Outcome</span>
          <Choice
            value={isMagic ? form.beneficiary_account : ''}
            options={[['', 'As the scenario decides'], ...magicOptions]}
            onChoose={(to) => change({ beneficiary_account: to || SAMPLE_PAYOUT.beneficiary_account })}
          />
        </label>
        {text('amount')}
        <label class="field">
          <span>Mode</span>
          <Choice
            value={form.transfer_mode}
            options={named(MODES)}
            onChoose={(mode) => change({ transfer_mode: mode })}
          />
        </label>
        {text('beneficiary_account')}
        {text('beneficiary_name')}
        <details class="whole">
          <summary>Reference, IFSC, remarks</summary>
          <div class={css.form}>{FOLDED.map((name) => text(name))}</div>
        </details>
        <div class="buttons whole">
          <Button
            isSubmit
            kind="primary"
            isBusy={waiting !== null}
            off={amount === undefined ? 'The amount is not clear' : null}
          >
            {waiting === null ? 'Send payout' : 'Waiting for a response'}
          </Button>
          {waiting !== null && (
            <Button isLocal act={() => waiting.abort()}>
              Stop waiting
            </Button>
          )}
        </div>
      </form>
      {outcome !== null && (
        <div role="status" aria-label="The response">
          <h3>
            <span class={outcome.isGood ? '' : 'pill'}>{outcome.title}</span>
          </h3>
          {outcome.headers.length > 0 && <p class="note">{outcome.headers.join(' · ')}</p>}
          <pre tabIndex={0} aria-label="The body of the response">
            {readable(outcome.body)}
          </pre>
        </div>
      )}
      <p class="note">Findings leave out what this form sends: it is not your client.</p>
      <details>
        <summary>As a curl command</summary>
        <PayoutCurl payout={payout} />
      </details>
    </aside>
  );
}

import { useEffect, useRef, useState } from 'preact/hooks';
import type { InitiateRequest } from '../../contract/service.ts';
import { hide } from '../shell/overlay.ts';
import { useLive } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Choice, named } from '../ui/choice.tsx';
import { rupees } from '../../contract/words.ts';
import { noAmountText, parseAmount, readable } from '../ui/formats.ts';
import { ExplainPanel } from './explain-panel.tsx';
import { PayoutCurl } from './payout-curl.tsx';
import { MAGIC_KINDS, magicBeneficiaries } from './failure-kinds.ts';
import { freshReference, MODES, pay, SAMPLE_PAYOUT, type Outcome } from './sending.ts';
import css from './control-bar.module.css';

/** The message of each field that the sandbox refused, unless the dialect of the world has no list of them. */
function fieldErrors(body: unknown): Readonly<Record<string, string>> {
  const { errors } = Object(body) as { readonly errors?: unknown };
  const listed = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  const fields = listed.map(
    (error) => Object(error) as { readonly field?: unknown; readonly message?: unknown },
  );
  return Object.fromEntries(fields.map(({ field, message }) => [String(field), String(message)]));
}

const LABELS = {
  amount: 'Amount, ₹',
  beneficiary_account: 'Account or UPI ID',
  beneficiary_name: 'Beneficiary',
  client_ref_id: 'Reference',
  beneficiary_ifsc: 'IFSC',
  remarks: 'Remarks',
} as const;
type FieldName = keyof typeof LABELS;

/** The fields that are folded away, unless one of them was refused. */
const FOLDED = ['client_ref_id', 'beneficiary_ifsc', 'remarks'] as const;

/** What the form had when it was closed. */
let kept = { ...SAMPLE_PAYOUT, client_ref_id: freshReference(), amount: '1,500.50', remarks: '' };

/** Makes a payout from the page, and shows the request and the response. */
export function PayDrawer() {
  const live = useLive();
  const [form, setForm] = useState(kept);
  const [isUnfolded, setUnfolded] = useState(false);
  const [isNewEachTime, setNewEachTime] = useState(true);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [waiting, setWaiting] = useState<AbortController | null>(null);
  const first = useRef<HTMLFormElement>(null);
  kept = form;
  useEffect(() => first.current!.querySelector<HTMLInputElement>('[name=amount]')!.select(), []);
  useEffect(() => () => waiting?.abort(), [waiting]);

  const magic = magicBeneficiaries(live.scenario.value);
  const amount = parseAmount(form.amount);
  const { remarks, ...fields } = form;
  const payout: InitiateRequest = {
    ...fields,
    amount: amount ?? 0,
    ...(remarks === '' ? {} : { remarks }),
  };
  const change = (part: Partial<typeof form>): void => {
    setForm({ ...form, ...part });
    setOutcome(null);
  };
  const isMagic = magic.some(({ account }) => account === form.beneficiary_account);
  const refused = fieldErrors(outcome?.body);
  const invalid = amount === null ? { ...refused, amount: noAmountText(form.amount) } : refused;

  const send = async (): Promise<void> => {
    const leaving = new AbortController();
    setWaiting(leaving);
    setOutcome(null);
    const answered = await pay(live.world, payout, leaving.signal);
    setOutcome(answered);
    setWaiting(null);
    const isRefused = fieldErrors(answered.body)['client_ref_id'] !== undefined;
    if (isNewEachTime && !isRefused) setForm((now) => ({ ...now, client_ref_id: freshReference() }));
  };

  const submit = (): void => {
    if (waiting === null && amount !== null) void send();
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
        aria-invalid={invalid[name] !== undefined}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
      {invalid[name] !== undefined && <span class="field-error">{invalid[name]}</span>}
      {name === 'amount' && amount !== null && <span class="dim">{rupees(amount)}</span>}
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
          <select
            value={isMagic ? form.beneficiary_account : ''}
            onChange={(event) =>
              change({ beneficiary_account: event.currentTarget.value || SAMPLE_PAYOUT.beneficiary_account })
            }
          >
            <option value="">As the scenario decides</option>
            {MAGIC_KINDS.map((kind) => (
              <optgroup key={kind} label={kind}>
                {magic
                  .filter((one) => one.kind === kind)
                  .map(({ id, account, description }) => (
                    <option key={id} value={account}>
                      {description} ({account})
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
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
        <details
          class="whole"
          open={isUnfolded || FOLDED.some((name) => invalid[name] !== undefined)}
          onToggle={(event) => setUnfolded(event.currentTarget.open)}
        >
          <summary>Reference, IFSC, remarks</summary>
          <div class={css.form}>
            {FOLDED.map((name) => text(name))}
            <label class="check buttons">
              <input
                type="checkbox"
                checked={isNewEachTime}
                onChange={(event) => setNewEachTime(event.currentTarget.checked)}
              />
              A new reference each time
            </label>
          </div>
        </details>
        <div class="buttons whole">
          <Button
            isSubmit
            kind="primary"
            isBusy={waiting !== null}
            off={amount === null ? 'The amount is not clear' : null}
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
      <ExplainPanel payout={payout} />
      <details>
        <summary>As a curl command</summary>
        <PayoutCurl payout={payout} />
      </details>
    </aside>
  );
}

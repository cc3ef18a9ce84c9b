import { useEffect, useRef, useState } from 'preact/hooks';
import type { PayoutInput, TestWorld } from '../../client/test-world.ts';
import type { InitiateRequest } from '../../contract/service.ts';
import { CopyButton } from '../detail/copy-button.tsx';
import { MAGIC_KINDS, magicBeneficiaries, type MagicBeneficiary } from './failure-switches.ts';
import { duration, readable } from '../lists/formats.ts';
import type { LiveWorld } from '../live/live-world.ts';
import { ExplainPanel } from '../world/explain-panel.tsx';
import { curlOfPayout, MODES, SAMPLE_PAYOUT } from './sample-payout.ts';

/** The answer to the page's own payout. */
interface Outcome {
  readonly title: string;
  readonly isGood: boolean;
  readonly headers: readonly string[];
  readonly body: unknown;
}

const isShown = (name: string): boolean =>
  name.startsWith('x-sandbox-') || name === 'retry-after' || name === 'idempotent-replayed';

/** The message of each field that the sandbox refused, unless the dialect of the world has no list of them. */
function fieldErrors(body: unknown): Readonly<Record<string, string>> {
  const { errors } = Object(body) as { errors?: unknown };
  const listed = Array.isArray(errors) ? (errors as readonly unknown[]) : [];
  return Object.fromEntries(
    listed.flatMap((error): [string, string][] => {
      const { field, message } = Object(error) as { field?: unknown; message?: unknown };
      return typeof field === 'string' && typeof message === 'string' ? [[field, message]] : [];
    }),
  );
}

/** Sends a payout like any other client. */
async function pay(world: TestWorld, payout: PayoutInput, signal: AbortSignal): Promise<Outcome> {
  const startMs = performance.now();
  const took = (): string => duration(performance.now() - startMs);
  try {
    const { status, headers, body } = await world.pay(payout, { signal });
    return {
      title: `${status} after ${took()}`,
      isGood: status < 300,
      headers: [...headers].filter(([name]) => isShown(name)).map(([name, value]) => `${name}: ${value}`),
      body,
    };
  } catch {
    const title = signal.aborted
      ? `No answer: stopped waiting after ${took()}`
      : `The connection broke after ${took()}`;
    const body = 'The client cannot know whether the money moved. “Requests” shows it.';
    return { title, isGood: false, headers: [], body };
  }
}

/** The menu of magic accounts. */
const MagicMenu = ({ magic }: { readonly magic: readonly MagicBeneficiary[] }) => (
  <>
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
  </>
);

/** The fields that are folded away, unless one of them was refused. */
const FOLDED = ['client_ref_id', 'beneficiary_ifsc', 'remarks'];

/** A reference that this browser has not used before. */
const freshReference = (): string => `try-${Date.now().toString(36)}`;

/** Makes a payout from the page, and shows the request and the answer. */
export function TrySection({ live }: { readonly live: LiveWorld }) {
  const [form, setForm] = useState({
    ...SAMPLE_PAYOUT,
    client_ref_id: freshReference(),
    amount: '1,500.50',
    remarks: '',
  });
  const [isNewEachTime, setNewEachTime] = useState(true);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [waiting, setWaiting] = useState<AbortController | null>(null);
  const current = useRef(waiting);
  current.current = waiting;
  useEffect(() => () => current.current?.abort(), []);

  const magic = magicBeneficiaries(live.scenario.value);
  const amount = form.amount.trim() === '' ? Number.NaN : Number(form.amount.replaceAll(',', ''));
  const { remarks, ...fields } = form;
  const payout = {
    ...fields,
    amount: Number.isNaN(amount) ? form.amount : amount, // not a number: the sandbox explains the error
    ...(remarks === '' ? {} : { remarks }),
  } as InitiateRequest;
  const curl = curlOfPayout(live.world.url, live.world.apiKey, payout);
  const change = (part: Partial<typeof form>): void => setForm({ ...form, ...part });
  const isMagic = magic.some(({ account }) => account === form.beneficiary_account);

  const invalid = fieldErrors(outcome?.body);

  const submit = async (): Promise<void> => {
    const leaving = new AbortController();
    setWaiting(leaving);
    setOutcome(null);
    const answered = await pay(live.world, payout, leaving.signal);
    setOutcome(answered);
    setWaiting(null);
    live.news.say(`Answer to the payout: ${answered.title}`);
    if (isNewEachTime) setForm((now) => ({ ...now, client_ref_id: freshReference() }));
  };

  const text = (
    name:
      | 'client_ref_id'
      | 'beneficiary_name'
      | 'beneficiary_account'
      | 'beneficiary_ifsc'
      | 'amount'
      | 'remarks',
    label: string,
  ) => (
    <label class="field">
      <span>{label}</span>
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
    </label>
  );

  return (
    <section id="try" class="card" aria-labelledby="try-title">
      <header class="card-head">
        <h2 id="try-title">Try it</h2>
      </header>
      <form
        class="try"
        onSubmit={(event) => {
          event.preventDefault();
          if (waiting === null) void submit();
        }}
      >
        <label class="field whole">
          <span>Outcome</span>
          <select
            value={isMagic ? form.beneficiary_account : ''}
            onChange={(event) =>
              change({ beneficiary_account: event.currentTarget.value || SAMPLE_PAYOUT.beneficiary_account })
            }
          >
            <option value="">As the scenario decides</option>
            <MagicMenu magic={magic} />
          </select>
        </label>
        {text('amount', 'Amount, ₹')}
        <label class="field">
          <span>Mode</span>
          <select
            value={form.transfer_mode}
            onChange={(event) =>
              change({ transfer_mode: event.currentTarget.value as (typeof MODES)[number] })
            }
          >
            {MODES.map((mode) => (
              <option key={mode}>{mode}</option>
            ))}
          </select>
        </label>
        {text('beneficiary_account', 'Account or UPI ID')}
        {text('beneficiary_name', 'Beneficiary')}
        <details class="whole" open={FOLDED.some((name) => invalid[name] !== undefined)}>
          <summary>Reference, IFSC, remarks</summary>
          <div class="try">
            {text('client_ref_id', 'Reference')}
            {text('beneficiary_ifsc', 'IFSC')}
            {text('remarks', 'Remarks')}
            <label class="check">
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
          <button type="submit" class="button primary" disabled={waiting !== null}>
            {waiting === null ? 'Pay' : 'Waiting for an answer'}
          </button>
          {waiting !== null && (
            <button type="button" class="button" onClick={() => waiting.abort()}>
              Stop waiting
            </button>
          )}
        </div>
      </form>
      {outcome !== null && (
        <div class="outcome">
          <h3>
            <span class={`badge state-${outcome.isGood ? 'success' : 'failed'}`}>{outcome.title}</span>
          </h3>
          {outcome.headers.length > 0 && <p class="note">{outcome.headers.join(' · ')}</p>}
          <pre tabIndex={0} aria-label="The answer">
            {readable(outcome.body)}
          </pre>
        </div>
      )}
      <ExplainPanel live={live} payout={payout} />
      <details class="curl">
        <summary>As a curl command</summary>
        <pre tabIndex={0} aria-label="The payout as curl">
          {curl}
        </pre>
        <CopyButton label="Copy" text={() => curl} />
      </details>
    </section>
  );
}

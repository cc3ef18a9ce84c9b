import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { World } from '../../client/controlled-world.ts';
import { useAction } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { worldName } from './address.ts';
import {
  apiKey,
  chooseKey,
  DEMO_KEY,
  forgetWorlds,
  knownWorlds,
  offeredKey,
  unlockWorld,
  wantedWorld,
} from './session.ts';
import css from './shell.module.css';

interface KeyFormProps {
  /** The key to begin with. */
  readonly start: string;
  /** Why the last key was not accepted. */
  readonly refusal: string | null;
  readonly isBusy?: boolean;
  readonly onKey: (key: string) => void;
  /** What else can be done, with what is in the field. */
  readonly other: (key: string) => ComponentChildren;
  readonly intro: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Asks for the key of a world, on a page of its own. */
function KeyForm({ start, refusal, isBusy = false, onKey, other, intro, children }: KeyFormProps) {
  const [key, setKey] = useState(start);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current!.select(), []); // what led here, such as a button of the last world, is gone
  return (
    <main class={css.signIn}>
      <div class={css.card}>
        <h1>Payout sandbox</h1>
        <p>{intro}</p>
        <form onSubmit={submits(() => onKey(key.trim()))}>
          <label class="field">
            <span>API key</span>
            <input
              ref={field}
              name="key"
              autoComplete="off"
              spellcheck={false}
              required
              value={key}
              aria-invalid={refusal !== null}
              aria-describedby={refusal === null ? undefined : 'refusal'}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          </label>
          <Refusal text={refusal} id="refusal" />
          <div class="buttons">
            <Button isSubmit kind="primary" isBusy={isBusy}>
              Show this world
            </Button>
            {other(key)}
          </div>
        </form>
        {children}
      </div>
    </main>
  );
}

function KnownWorlds() {
  const [worlds, setWorlds] = useState(knownWorlds);
  if (worlds.length === 0) return null;
  const forget = (): void => {
    forgetWorlds();
    setWorlds([]);
  };
  return (
    <>
      <h2>Shown before in this browser</h2>
      <ul class="stack" aria-label="Known worlds">
        {worlds.map(([name, key]) => (
          <li key={name}>
            <Button kind="link" act={() => chooseKey(key)}>
              {key}
            </Button>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button kind="small" act={forget}>
          Forget these keys
        </Button>
      </div>
    </>
  );
}

interface SignInProps {
  readonly given?: string;
  /** Why the last key was not accepted. */
  readonly refusal?: string;
}

export const SignIn = ({ given = DEMO_KEY, refusal }: SignInProps) => (
  <KeyForm
    start={given}
    refusal={refusal ?? null}
    onKey={chooseKey}
    other={(key) => key !== DEMO_KEY && <Button act={() => chooseKey(DEMO_KEY)}>Use {DEMO_KEY}</Button>}
    intro={
      <>
        Every API key has its own <strong>world</strong>: a wallet, its transactions and its clock. Which
        world do you want to see?
      </>
    }
  >
    <p class="note">
      Use the key that your client sends. It stays in this browser. A link can contain it:{' '}
      <code>#key={DEMO_KEY}</code>
    </p>
    <KnownWorlds />
  </KeyForm>
);

/** Asks for the key of the world that a link names, since a link does not contain it. */
export function UnlockWorld({ name, url }: { readonly name: string; readonly url: string }) {
  const { isBusy, refusal, run } = useAction();
  const own = apiKey.value;
  const unlock = (key: string): void =>
    run(async () => {
      const { id } = await new World(url, key).summary();
      if (worldName(id) !== name) {
        throw new Error(`This key opens the world ${worldName(id)}, and the link shows ${name}.`);
      }
      if (wantedWorld.value === name) unlockWorld(key, id); // the user may have gone elsewhere in the meantime
    });
  return (
    <KeyForm
      start=""
      refusal={refusal}
      isBusy={isBusy}
      onKey={unlock}
      other={() => (
        <Button act={() => chooseKey(own)}>{own === null ? 'Show another world' : 'Back to my world'}</Button>
      )}
      intro={
        <>
          This link shows the world <strong>{name}</strong>. Links contain no keys: ask whoever sent it for
          the key of this world.
        </>
      }
    />
  );
}

/** Asks whether the key of a link should replace the stored one. */
export function KeyQuestion({ kept }: { readonly kept: string }) {
  const offered = offeredKey.value;
  if (offered === null) return null;
  return (
    <div class="notice" role="alert">
      <span>
        This link replaces your key <code>{kept}</code> with <code>{offered}</code>. Open it only if you know
        who made it.
      </span>
      <button type="button" class="button small" onClick={() => chooseKey(kept)}>
        Keep my key
      </button>
      <button type="button" class="button small" onClick={() => chooseKey(offered)}>
        Open the world of the link
      </button>
    </div>
  );
}

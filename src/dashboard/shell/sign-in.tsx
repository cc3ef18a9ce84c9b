import { useState } from 'preact/hooks';
import { chooseKey, DEMO_KEY, forgetWorlds, knownWorlds } from './session.ts';
import css from './shell.module.css';
import { KeyField } from './key-field.tsx';

/** The worlds that this browser has shown before. */
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
      <ul class="plain-list" aria-label="Known worlds">
        {worlds.map(([name, key]) => (
          <li key={name}>
            <button type="button" class="link" onClick={() => chooseKey(key)}>
              {key}
            </button>
          </li>
        ))}
      </ul>
      <div class="buttons">
        <button type="button" class="button small" onClick={forget}>
          Forget these keys
        </button>
      </div>
    </>
  );
}

/** Asks for the key of a world. @param refusal why the last key was not accepted */
export function SignIn({
  given,
  refusal,
}: {
  readonly given: string | null;
  readonly refusal: string | null;
}) {
  const [key, setKey] = useState(given ?? DEMO_KEY);
  return (
    <main class={css.signIn}>
      <div class={css.card}>
        <h1>Payout sandbox</h1>
        <p>
          Every API key has its own <strong>world</strong>: a wallet, its transactions and its clock. Which
          world do you want to see?
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            chooseKey(key.trim());
          }}
        >
          <KeyField value={key} refusal={refusal} onInput={setKey} />
          <div class="buttons">
            <button type="submit" class="button primary">
              Show this world
            </button>
            {key !== DEMO_KEY && (
              <button type="button" class="button" onClick={() => chooseKey(DEMO_KEY)}>
                Use {DEMO_KEY}
              </button>
            )}
          </div>
        </form>
        <p class="note">
          Use the key that your client sends. It stays in this browser. A link can contain it:{' '}
          <code>#key={DEMO_KEY}</code>
        </p>
        <KnownWorlds />
      </div>
    </main>
  );
}

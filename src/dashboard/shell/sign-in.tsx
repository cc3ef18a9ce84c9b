import { useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { chooseKey, DEMO_KEY, forgetWorlds, knownWorlds } from './session.ts';
import { KeyForm } from './key-form.tsx';

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

interface Props {
  readonly given: string | null;
  /** Why the last key was not accepted. */
  readonly refusal: string | null;
}

/** Asks for the key of a world. */
export const SignIn = ({ given, refusal }: Props) => (
  <KeyForm
    start={given ?? DEMO_KEY}
    refusal={refusal}
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

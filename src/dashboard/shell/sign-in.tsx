import { useEffect, useRef, useState } from 'preact/hooks';
import { World } from '../../client/controlled-world.ts';
import { sendWithFetch } from '../store/fetch-client.ts';
import { useAction } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { worldName } from './address.ts';
import { apiKey, chooseKey, DEMO_KEY, unlockWorld, wantedWorld } from './session.ts';
import css from './shell.module.css';

interface Props {
  readonly url: string;
  /** The world that a link names, since a link does not contain its key; null for any world. */
  readonly wanted: string | null;
  readonly given?: string;
  /** Why the last key was not accepted. */
  readonly refusal?: string;
}

/** Asks for the key of a world, on a page of its own. */
export function SignIn({ url, wanted, given = wanted === null ? DEMO_KEY : '', refusal }: Props) {
  const [key, setKey] = useState(given);
  const field = useRef<HTMLInputElement>(null);
  const unlocking = useAction();
  const refused = unlocking.refusal ?? refusal ?? null;
  useEffect(() => field.current!.select(), []); // what led here, such as a button of the last world, is gone
  const unlock = (): void =>
    unlocking.run(async () => {
      const { id } = await new World(sendWithFetch, url, key.trim()).summary();
      if (worldName(id) !== wanted) {
        throw new Error(`This key opens the world ${worldName(id)}, and the link shows ${wanted}.`);
      }
      if (wantedWorld.value === wanted) unlockWorld(key.trim(), id); // the user may have gone elsewhere in the meantime
    });
  const own = apiKey.value;
  return (
    <main class={css.signIn}>
      <h1>Payout sandbox</h1>
      {wanted === null ? (
        <p>
          Every API key has its own <strong>world</strong>: a wallet, its payouts and its clock. Which world
          do you want to see?
        </p>
      ) : (
        <p>
          This link shows the world <strong>{wanted}</strong>. Links contain no keys: ask whoever sent it for
          the key of this world.
        </p>
      )}
      <form class="stack" onSubmit={submits(wanted === null ? () => chooseKey(key.trim()) : unlock)}>
        <label class="field">
          <span>API key</span>
          <input
            ref={field}
            name="key"
            autoComplete="off"
            spellcheck={false}
            required
            value={key}
            aria-invalid={refused !== null}
            aria-describedby={refused === null ? undefined : 'refusal'}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <Refusal text={refused} id="refusal" />
        <div class="buttons">
          <Button isSubmit kind="primary" isBusy={unlocking.isBusy}>
            Show this world
          </Button>
          {wanted !== null && (
            <Button act={() => chooseKey(own)}>
              {own === null ? 'Show another world' : 'Back to my world'}
            </Button>
          )}
          {wanted === null && key !== DEMO_KEY && (
            <Button act={() => chooseKey(DEMO_KEY)}>Use {DEMO_KEY}</Button>
          )}
        </div>
      </form>
      <p class="note">
        Use the key that your client sends. It stays in this browser. A link can contain it:{' '}
        <code>#key={DEMO_KEY}</code>
      </p>
    </main>
  );
}

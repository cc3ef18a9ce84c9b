import { useState } from 'preact/hooks';
import { World } from '../../client/controlled-world.ts';
import { useAction } from '../store/current-world.ts';
import { worldName } from './address.ts';
import { apiKey, chooseKey, unlockWorld, wantedWorld } from './session.ts';
import css from './shell.module.css';
import { KeyField } from './key-field.tsx';

/** Asks for the key of the world that a link names, since a link does not contain it. */
export function UnlockWorld({ name, url }: { readonly name: string; readonly url: string }) {
  const [key, setKey] = useState('');
  const { isBusy, refusal, run } = useAction();
  const own = apiKey.value;
  const unlock = (): void =>
    run(async () => {
      const { id } = await new World(url, key.trim()).summary();
      if (worldName(id) !== name) {
        throw new Error(`This key opens the world ${worldName(id)}, and the link shows ${name}.`);
      }
      if (wantedWorld.value === name) unlockWorld(key.trim(), id); // the user may have gone elsewhere in the meantime
    });
  return (
    <main class={css.signIn}>
      <div class={css.card}>
        <h1>Payout sandbox</h1>
        <p>
          This link shows the world <strong>{name}</strong>. Links contain no keys: ask whoever sent it for
          the key of this world.
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            unlock();
          }}
        >
          <KeyField value={key} refusal={refusal} onInput={setKey} />
          <div class="buttons">
            <button type="submit" class="button primary" disabled={isBusy}>
              Show this world
            </button>
            <button type="button" class="button" onClick={() => chooseKey(own)}>
              {own === null ? 'Show another world' : 'Back to my world'}
            </button>
          </div>
        </form>
      </div>
    </main>
  );
}

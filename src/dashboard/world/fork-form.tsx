import { useState } from 'preact/hooks';
import { World } from '../../client/controlled-world.ts';
import { chooseKey } from '../shell/session.ts';
import { useAction, useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { lossIn } from './losses.ts';
import { Question } from './question.tsx';

/** Copies this world to another key: from then on, the two are independent. */
export function ForkForm() {
  const live = useLive();
  const { url, apiKey } = live.world;
  const [key, setKey] = useState(`${apiKey}-fork`);
  const [asked, setAsked] = useState<{ readonly target: string; readonly loss: string } | null>(null);
  const [made, setMade] = useState<string | null>(null);
  const { isBusy, refusal, run } = useAction();
  const fork = async (target: string): Promise<void> => {
    await new World(url, target).restore(await live.world.snapshot());
    setAsked(null);
    setMade(target);
  };
  const ask = (): void =>
    run(async () => {
      const target = key.trim();
      if (target === apiKey) throw new Error('This is the key of this world: enter another one.');
      const loss = await lossIn(new World(url, target));
      if (loss === null) await fork(target);
      else setAsked({ target, loss });
    });
  return (
    <div class="block">
      <h3>Fork</h3>
      <p class="note">A copy of this world with another key. From then on, the two are independent.</p>
      <form
        class="row-form"
        onSubmit={(event) => {
          event.preventDefault();
          ask();
        }}
      >
        <label class="field">
          <span>Key of the fork</span>
          <input
            name="fork"
            autoComplete="off"
            spellcheck={false}
            required
            value={key}
            onInput={(event) => {
              setKey(event.currentTarget.value);
              setAsked(null);
              setMade(null);
            }}
          />
        </label>
        <Button isSubmit isBusy={isBusy}>
          Fork
        </Button>
        {asked !== null && (
          <Question
            text={`The world of ${asked.target} would lose ${asked.loss}.`}
            verb="Replace it"
            isBusy={isBusy}
            onYes={() => run(() => fork(asked.target))}
            onNo={() => setAsked(null)}
          />
        )}
        {made !== null && (
          <p class="note" role="status">
            The fork was made.{' '}
            <Button kind="link" isLocal act={() => chooseKey(made)}>
              Show {made}
            </Button>
          </p>
        )}
        <Refusal text={refusal} />
      </form>
    </div>
  );
}

import { useState } from 'preact/hooks';
import { World } from '../../client/controlled-world.ts';
import { chooseKey } from '../shell/session.ts';
import { useLive } from '../store/current-world.ts';
import { Button, submits } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import { useReplacement } from './replacement.tsx';

/** Copies this world to another key: from then on, the two are independent. */
export function ForkForm() {
  const live = useLive();
  const { url, apiKey } = live.world;
  const [key, setKey] = useState(`${apiKey}-fork`);
  const [made, setMade] = useState<string | null>(null);
  const { isBusy, refusal, replace, question, forget } = useReplacement();
  const fork = (): void => {
    const target = key.trim();
    const world = new World(url, target);
    const act = async (): Promise<void> => {
      await world.restore(await live.world.snapshot());
      setMade(target);
    };
    replace({ world, name: `The world of ${target}`, verb: 'Replace it', act }, async () => {
      if (target === apiKey) throw new Error('This is the key of this world: enter another one.');
    });
  };
  return (
    <div class="block">
      <h3>Fork</h3>
      <p class="note">A copy of this world with another key. From then on, the two are independent.</p>
      <form class="row-form" onSubmit={submits(fork)}>
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
              forget();
              setMade(null);
            }}
          />
        </label>
        <Button isSubmit isBusy={isBusy}>
          Fork
        </Button>
        {question}
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

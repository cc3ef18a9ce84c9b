import { World } from '../../client/controlled-world.ts';
import { useAction } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { worldName } from './address.ts';
import { apiKey, chooseKey, unlockWorld, wantedWorld } from './session.ts';
import { KeyForm } from './key-form.tsx';

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

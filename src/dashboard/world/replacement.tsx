import { useEffect, useState } from 'preact/hooks';
import type { World } from '../../client/controlled-world.ts';
import { useAction, useLive, type Effects } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { lossIn } from './losses.ts';

/** Something that replaces a world. */
interface Replacement {
  readonly world: World;
  /** What is about to be replaced, and the button that agrees to it. */
  readonly name: string;
  readonly verb: string;
  readonly act: () => Promise<string | void>;
  readonly effects?: Effects;
}

/** Replaces worlds, and asks before something is lost. */
export function useReplacement() {
  const action = useAction();
  const [asked, setAsked] = useState<(Replacement & { readonly loss: string }) | null>(null);
  const { summary } = useLive();
  useEffect(() => {
    if (asked === null) return;
    const renew = (loss: string | null): void =>
      setAsked((now) => (now?.act !== asked.act ? now : loss === null ? null : { ...now, loss }));
    lossIn(asked.world).then(renew, () => renew(null));
  }, [summary.value]); // it has changed, or may be another one: what is asked must still be true
  const carryOut = async ({ act }: Replacement): Promise<string | void> => {
    const said = await act();
    setAsked(null);
    return said;
  };
  /** @param check finds out what is wrong before anything is asked */
  const replace = (given: Replacement, check?: () => Promise<unknown>): void =>
    action.run(async () => {
      await check?.();
      const loss = await lossIn(given.world);
      return loss === null ? carryOut(given) : setAsked({ ...given, loss });
    }, given.effects);
  const question = asked !== null && (
    <div class="notice" role="alert">
      <p>
        {asked.name} has {asked.loss}, which this replaces.
      </p>
      <div class="buttons">
        <Button isBusy={action.isBusy} act={() => action.run(() => carryOut(asked), asked.effects)}>
          {asked.verb}
        </Button>
        <Button isBusy={action.isBusy} isLocal act={() => setAsked(null)}>
          Cancel
        </Button>
      </div>
    </div>
  );
  /** What was asked or refused is no longer what the form says. */
  const forget = (): void => {
    setAsked(null);
    action.clear();
  };
  return { ...action, replace, question, forget };
}

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { counted } from '../../contract/words.ts';
import { useAction, useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';

/** What of the world would be replaced, in words; null if nothing. */
function lossIn({ summary, scenario, requests }: LiveWorld): string | null {
  const { transactions = {}, balance = 0, opening_balance: opening = 0 } = summary.value ?? {};
  const states = Object.entries<number>(transactions).filter(([, count]) => count > 0);
  const added = scenario.value?.rules.filter(({ from }) => from === 'world').length ?? 0;
  const parts = [
    states.length > 0 ? `payouts (${states.map(([state, count]) => `${count} ${state}`).join(', ')})` : '',
    requests.rows.value.length > 0 ? 'requests' : '',
    added > 0 ? counted(added, 'added rule') : '',
    scenario.value?.chosen === true ? 'its own scenario' : '',
    states.length === 0 && balance !== opening ? 'changes of the balance' : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? null : new Intl.ListFormat('en-GB').format(parts);
}

/** Something that replaces the world. */
interface Replacement {
  /** The button that agrees to it. */
  readonly verb: string;
  readonly act: () => Promise<string>;
}

interface QuestionProps {
  readonly verb: string;
  readonly isBusy: boolean;
  readonly agree: () => void;
  readonly cancel: () => void;
}

/** Asks before something is lost. It has the focus at once: Enter agrees. */
function Question({ verb, isBusy, agree, cancel }: QuestionProps) {
  const loss = lossIn(useLive());
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => box.current!.querySelector('button')!.focus(), []);
  return (
    <div class="notice" role="alert" ref={box}>
      <p>This world has {loss ?? 'nothing'}, which this replaces.</p>
      <div class="buttons">
        <Button isBusy={isBusy} act={agree}>
          {verb}
        </Button>
        <Button isBusy={isBusy} isLocal act={cancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}

/** Replaces the world, and asks before something is lost. */
export function useReplacement() {
  const live = useLive();
  const action = useAction();
  const [asked, setAsked] = useState<Replacement | null>(null);
  const carryOut = ({ act }: Replacement): void => {
    setAsked(null);
    action.run(act, ['reset', 'restore']);
  };
  const replace = (given: Replacement): void => (lossIn(live) === null ? carryOut(given) : setAsked(given));
  const question = asked !== null && (
    <Question
      verb={asked.verb}
      isBusy={action.isBusy}
      agree={() => carryOut(asked)}
      cancel={() => setAsked(null)}
    />
  );
  return { ...action, replace, question };
}

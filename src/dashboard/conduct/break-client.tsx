import { useEffect, useState } from 'preact/hooks';
import type { ClientReport } from '../../contract/conduct.ts';
import { BREAKS, breakName, isBreak } from '../actions/failure-kinds.ts';
import { changeRules, removeRules } from '../actions/rule-orders.ts';
import { RequestLinks } from '../requests/request-links.tsx';
import { useAction, useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { Refusal } from '../ui/marks.tsx';
import css from './conduct.module.css';

/** Adds the nine failures for the next nine payouts. Each counts from the beginning, also if it was there before. */
export const breakClient = (live: LiveWorld): void =>
  changeRules(
    live,
    BREAKS.map((failure) => () => {
      const match = { route: 'initiate', attempt: 1 } as const;
      const description = `a first initiate ${failure.text}`;
      const rule = { name: breakName(failure), description, match, times: 1, effect: failure.effect };
      return live.world.rule(rule, { last: true });
    }),
    'Nine failures are added, for the next nine payouts.',
  );

interface Props {
  readonly report: ClientReport | null;
  /** Has the referee judge at once. */
  readonly judge: () => void;
}

/** One button adds nine failures for the connected client. The referee says what the client made of each, and which requests prove it. */
export function BreakClient({ report, judge }: Props) {
  const live = useLive();
  /** The verdict after the client has ended. */
  const [last, setLast] = useState<ClientReport | null>(null);
  const { isBusy, refusal, run } = useAction();
  const ordered = (live.scenario.value?.rules ?? []).filter(isBreak);
  const scores = (ordered.length > 0 ? report : last)?.overrides ?? [];
  useEffect(judge, [ordered.map(({ taken }) => taken).join()]); // at once when one of them was used
  const begin = (): void => {
    setLast(null);
    breakClient(live);
  };
  const stop = (): void =>
    run(async () => {
      setLast(await live.world.referee(undefined, { ended: true }));
      removeRules(live, ordered, 'The nine failures are removed.');
    });
  return (
    <div class="block">
      <h3>Break my client</h3>
      <p class="note">
        Adds nine failures, one for each of the next nine payouts of your client, and keeps the score. Run
        your client meanwhile, and stop when it has ended.
      </p>
      <div class="buttons">
        <Button kind="primary" act={begin}>
          {ordered.length === 0 ? 'Break my client' : 'Start again'}
        </Button>
        {ordered.length > 0 && (
          <Button isBusy={isBusy} act={stop}>
            Stop
          </Button>
        )}
      </div>
      <Refusal text={refusal} />
      {(ordered.length > 0 || last !== null) && (
        <ol class="rows" aria-label="Scorecard">
          {BREAKS.map((failure) => {
            const score = scores.find(({ id }) => id === `world/${breakName(failure)}`);
            return (
              <li key={failure.name}>
                <span>
                  A first initiate {failure.text}
                  <span class="note">
                    {score?.reason} <RequestLinks requests={score?.requests ?? []} />
                  </span>
                </span>
                <span class={css.verdict} data-verdict={score?.verdict}>
                  {score?.verdict}
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </div>
  );
}

import { useEffect } from 'preact/hooks';
import type { ClientReport } from '../../contract/conduct.ts';
import { BREAKS, breakName, isBreak, isUsed } from '../actions/failure-kinds.ts';
import { changeRules, removeRules } from '../actions/rule-orders.ts';
import { RequestLinks } from '../requests/request-links.tsx';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import css from './conduct.module.css';

/** Adds the nine failures for the next nine payouts. Each counts from the beginning, also if it was there before. */
export const breakClient = (live: LiveWorld): void =>
  changeRules(
    live,
    BREAKS.map((failure) => () => {
      const match = { route: 'initiate', attempt: 1 } as const;
      const description = `A first initiate ${failure.text}`;
      const rule = { name: breakName(failure), description, match, times: 1, effect: failure.effect };
      return live.world.rule(rule, { last: true });
    }),
    'Nine failures are added, for the next nine payouts.',
  );

interface Props {
  readonly report: ClientReport | null;
  /** Has the referee judge at once. */
  readonly judge: () => void;
  /** Says that the client has ended; null once it has. */
  readonly end: (() => void) | null;
}

/** One button adds nine failures for the connected client. The referee says what the client made of each, and which requests prove it. */
export function BreakClient({ report, judge, end }: Props) {
  const live = useLive();
  const ordered = (live.scenario.value?.rules ?? []).filter(isBreak);
  const scores = new Map(report?.overrides.map((score) => [score.id, score]));
  const rows = ordered.map((rule) => ({ ...rule, score: scores.get(rule.id) }));
  const survived = rows.filter(({ score }) => score?.verdict === 'survived').length;
  const isOpen = rows.some(({ score }) => score?.verdict !== 'survived' && score?.verdict !== 'failed');
  useEffect(judge, [ordered.map(({ taken }) => taken).join()]); // at once when one of them was used
  const stop = (): void => {
    end?.();
    const unused = ordered.filter((rule) => !isUsed(rule)); // the server keeps the score of the others
    const removed = unused.length === 0 ? '' : ', and the failures that it did not get are removed';
    removeRules(live, unused, `The client has ended${removed}.`);
  };
  return (
    <div class="block">
      <h3>Break my client</h3>
      <p class="note">
        Adds nine failures, one for each of the next nine payouts of your client, and keeps the score. Run
        your client meanwhile, and stop when it has ended.
      </p>
      <div class="buttons">
        <Button kind="primary" act={() => breakClient(live)}>
          {ordered.length === 0 ? 'Break my client' : 'Start again'}
        </Button>
        {ordered.length > 0 && end !== null && <Button act={stop}>Stop</Button>}
        {ordered.length > 0 && end === null && (
          <Button act={() => removeRules(live, ordered, 'The score is removed.')}>Remove the score</Button>
        )}
        {ordered.length > 0 && `${survived} of ${ordered.length} survived${isOpen ? ' so far' : ''}`}
      </div>
      {ordered.length > 0 && (
        <ol class="rows" aria-label="Scorecard">
          {rows.map(({ id, description, score }) => (
            <li key={id}>
              <span>
                {description}
                <span class="note">
                  {score?.reason} <RequestLinks requests={score?.requests ?? []} />
                </span>
              </span>
              <span class={css.verdict} data-verdict={score?.verdict}>
                {score?.verdict}
              </span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

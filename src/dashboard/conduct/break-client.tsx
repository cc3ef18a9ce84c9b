import type { RuleResponse } from '../../contract/control-responses.ts';
import { changeRules } from '../control-bar/rule-orders.ts';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { RequestButtons } from './finding-list.tsx';
import { BREAKS, isBreak, scoreOf } from './scorecard.ts';
import css from './conduct.module.css';

/** Adds the nine failures for the next nine payouts. The first of them is put last, so that it is tried first. */
const begin = (live: LiveWorld): void =>
  changeRules(
    live,
    BREAKS.toReversed().map(([name, text, effect]) => () => {
      const match = { route: 'initiate', attempt: 1 } as const;
      return live.world.rule({
        name,
        description: `the next new payout gets ${text}`,
        match,
        times: 1,
        effect,
      });
    }),
    'Nine failures are added, for the next nine payouts.',
  );

const end = (live: LiveWorld, rules: readonly RuleResponse[]): void =>
  changeRules(
    live,
    rules.map(
      ({ name }) =>
        () =>
          live.world.removeRule(name),
    ),
    'The nine failures are removed.',
  );

/** One button adds nine failures for the connected client; the scorecard says what it made of each, and which requests prove it. */
export function BreakClient() {
  const live = useLive();
  const rows = live.requests.rows.value;
  const { all } = live.findings.value;
  const payouts = live.payouts.rows.value && live.payouts;
  const ordered = (live.scenario.value?.rules ?? []).filter(isBreak);
  const isTold = (txnId: string): boolean => payouts.get(txnId)?.at_risk === false;
  return (
    <div class="block">
      <h3>Break my client</h3>
      <p class="note">
        Adds nine failures, one for each of the next nine payouts of your client, and keeps the score. Run
        your client meanwhile.
      </p>
      <div class="buttons">
        <Button kind="primary" act={() => begin(live)}>
          {ordered.length === 0 ? 'Break my client' : 'Start again'}
        </Button>
        {ordered.length > 0 && <Button act={() => end(live, ordered)}>Stop</Button>}
      </div>
      {ordered.length > 0 && (
        <table class={css.score} aria-label="Scorecard">
          <thead>
            <tr>
              <th>Your client gets</th>
              <th>Verdict</th>
              <th>Why</th>
              <th>Proof</th>
            </tr>
          </thead>
          <tbody>
            {BREAKS.map(([name, text]) => {
              const entry = rows.find(({ rule }) => rule === `world/${name}`);
              const score = scoreOf(entry, rows, all, isTold);
              return (
                <tr key={name} data-verdict={score.verdict}>
                  <td>{text}</td>
                  <td>{score.verdict}</td>
                  <td>{score.text}</td>
                  <td>
                    <span class={css.requests}>
                      <RequestButtons kind="link" requests={score.requests} />
                    </span>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
    </div>
  );
}

import { useEffect } from 'preact/hooks';
import type { RuleResponse } from '../../contract/control-responses.ts';
import { changeRules } from '../control-bar/rule-orders.ts';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { Button } from '../ui/button.tsx';
import { grouped } from '../../contract/words.ts';
import { countedOf } from '../ui/formats.ts';
import { countsText } from './client-findings.ts';
import { FindingList, InconclusiveList, RequestButtons } from './finding-list.tsx';
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
function BreakClient() {
  const live = useLive();
  const rows = live.requests.rows.value;
  const { all } = live.findings.value;
  const payouts = live.payouts.rows.value && live.payouts;
  const ordered = (live.scenario.value?.rules ?? []).filter(isBreak);
  const isTold = (txnId: string): boolean => (payouts.get(txnId)?.told ?? null) !== null;
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
                    <RequestButtons requests={score.requests} />
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

/** How the client of this world behaves: what the referee finds, and what it makes of nine failures. */
export function ConductView() {
  const live = useLive();
  const isLive = live.feed.connection.value.state === 'live';
  useEffect(() => (isLive ? live.watchConduct() : undefined), [live, isLive]);
  useEffect(() => () => void (live.report.value = null), [live]); // out of date when Conduct is shown again
  const report = live.report.value;
  const { all, counts, ofPage, lacksEvidence } = live.findings.value;
  const notices = all.filter(({ finding }) => finding.severity === 'notice');
  const serious = all.slice(0, all.length - notices.length);
  const sum = counts.error + counts.warning;
  return (
    <section class="view scrolling" aria-labelledby="conduct-title">
      <header class="view-head">
        <h2 id="conduct-title">Conduct</h2>
        <p class="note" role="status">
          {report === null ? 'Loading' : countsText(counts)}
          {live.away.value !== null && report !== null && ', as last known'}
          {ofPage > 0 && `; ${grouped(ofPage)} about requests of the dashboard left out`}
        </p>
      </header>
      <div class={`blocks ${css.columns}`}>
        <BreakClient />
        <div class="block">
          <header>
            <h3>Findings</h3>
            {serious.length < sum && (
              <span class="note">
                {countedOf(serious.length, sum)}: the report lists at most 100 of each check
              </span>
            )}
          </header>
          {report !== null && sum === 0 && !lacksEvidence && (
            <p class="note">What your client does wrong with the money appears here, with how to fix it.</p>
          )}
          <FindingList found={serious} />
          <InconclusiveList />
          {notices.length > 0 && (
            <details>
              <summary>Notices ({countedOf(notices.length, counts.notice)})</summary>
              <FindingList found={notices} />
            </details>
          )}
        </div>
      </div>
    </section>
  );
}

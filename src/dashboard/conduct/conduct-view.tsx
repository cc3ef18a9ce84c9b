import { useLive } from '../store/current-world.ts';
import { counted, countedOf } from '../ui/formats.ts';
import { BreakClient } from './break-client.tsx';
import { FindingList } from './finding-list.tsx';
import { countsText } from './client-findings.ts';
import css from './conduct.module.css';

/** How the client of this world behaves: what the referee finds, and what it makes of nine failures. */
export function ConductView() {
  const live = useLive();
  const report = live.report.value;
  const { all, counts, ofPage } = live.findings.value;
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
          {ofPage > 0 && `; ${counted(ofPage)} about requests of the dashboard left out`}
        </p>
      </header>
      <div class={css.columns}>
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
          {report !== null && sum === 0 && (
            <p class="note">What your client does wrong with the money appears here, with how to fix it.</p>
          )}
          <FindingList found={serious} />
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

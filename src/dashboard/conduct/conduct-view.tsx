import { useState } from 'preact/hooks';
import { useLive } from '../store/current-world.ts';
import { Button } from '../ui/button.tsx';
import { counted, plural } from '../ui/formats.ts';
import { BreakClient } from './break-client.tsx';
import { FindingList } from './finding-list.tsx';
import { clientFindings, countsText } from './client-findings.ts';

const FIRST_SHOWN = 50;

/** How the client of this world behaves: what the referee finds, and what it makes of nine failures. */
export function ConductView() {
  const live = useLive();
  const [isAll, setAll] = useState(false);
  const report = live.report.value;
  const { all, counts, ofPage } = clientFindings(report, live.requests.rows.value);
  const sum = counts.error + counts.warning + counts.notice;
  const shown = isAll ? all : all.slice(0, FIRST_SHOWN);
  const listed =
    shown.length < sum ? `${counted(shown.length)} of ${plural(sum, 'finding')}` : plural(sum, 'finding');
  return (
    <section class="view scrolling" aria-labelledby="conduct-title">
      <header class="view-head">
        <h2 id="conduct-title">Conduct</h2>
        <p class="note" role="status">
          {report === null ? 'Loading' : countsText(counts, plural)}
          {live.away.value !== null && report !== null && ', as last known'}
          {ofPage > 0 && `; ${counted(ofPage)} about requests of this page left out`}
        </p>
      </header>
      <BreakClient />
      <h3>Findings</h3>
      {report !== null && sum === 0 && (
        <p class="note">What your client does wrong with the money appears here, with how to fix it.</p>
      )}
      {sum > 0 && <p class="note">Shown: {listed}. The report lists at most 100 of each check.</p>}
      <FindingList found={shown} />
      {all.length > shown.length && (
        <Button isLocal act={() => setAll(true)}>
          Show all {counted(all.length)}
        </Button>
      )}
    </section>
  );
}

import { useEffect, useReducer, useState } from 'preact/hooks';
import type { ClientReport } from '../../contract/conduct.ts';
import { isFromPage } from '../actions/sending.ts';
import { useLive } from '../store/current-world.ts';
import type { LiveWorld } from '../store/live-world.ts';
import { countedOf } from '../ui/formats.ts';
import { BreakClient } from './break-client.tsx';
import { countsText, foundIn, inconclusiveIn } from './client-findings.ts';
import { FindingList, InconclusiveList } from './finding-list.tsx';

/** How often the world is judged while Conduct is shown, since that takes the server longer than most calls. */
const JUDGE_EVERY_MS = 5000;

/** What the referee finds in the requests of this world, while Conduct is shown. The last report stays while the server is away. */
function useReport(live: LiveWorld, ended: boolean): readonly [ClientReport | null, () => void] {
  const [report, setReport] = useState<ClientReport | null>(null);
  const [asked, ask] = useReducer<number, void>((count) => count + 1, 0);
  const isLive = live.feed.connection.value.state === 'live';
  useEffect(() => {
    if (!isLive) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const judge = async (): Promise<void> => {
      const judged = document.hidden
        ? null
        : await live.feed.answerTo(live.world.referee(undefined, { ended }));
      if (isOver) return;
      if (judged !== null) setReport(judged);
      timer = setTimeout(() => void judge(), JUDGE_EVERY_MS);
    };
    void judge();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [live, isLive, asked, ended]);
  return [report, ask];
}

/** How the client of this world behaves: what the referee finds, and what it makes of nine failures. */
export function ConductView() {
  const live = useLive();
  const latest = live.requests.rows.value.find((row) => !isFromPage(row))?.wall_at ?? '';
  const isEnded = live.endedAt.value === latest; // until its next request
  const [report, judge] = useReport(live, isEnded);
  const all = report === null ? [] : foundIn(report);
  const { error = 0, warning = 0, notice = 0, passed = 0 } = report?.counts ?? {};
  const sum = error + warning + notice;
  return (
    <section class="view scrolling" aria-labelledby="conduct-title">
      <header class="view-head">
        <h2 id="conduct-title">Conduct</h2>
        <p class="note" role="status">
          {report === null ? 'Loading' : countsText(report)}
          {live.away.value !== null && report !== null && ', as last known'}
        </p>
      </header>
      <div class="blocks">
        <BreakClient
          report={report}
          judge={judge}
          end={isEnded ? null : () => (live.endedAt.value = latest)}
        />
        <div class="block">
          <header>
            <h3>Findings</h3>
            {all.length < sum && (
              <span class="note">
                {countedOf(all.length, sum)}: the report lists at most 100 of each check
              </span>
            )}
          </header>
          {sum === 0 && passed > 0 && (
            <p class="note">What your client does wrong with the money appears here, with how to fix it.</p>
          )}
          <FindingList found={all} />
          {report !== null && <InconclusiveList all={inconclusiveIn(report)} />}
        </div>
      </div>
    </section>
  );
}

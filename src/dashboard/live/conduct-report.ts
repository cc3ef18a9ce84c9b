import { useState } from 'preact/hooks';
import type { WorldReport } from '../../contract/conduct.ts';
import type { LiveWorld } from './live-world.ts';
import { useTogether } from './together.ts';

/** How often the world is judged while requests come, since that takes the server longer than most calls. */
const JUDGE_EVERY_MS = 2000;

/** What the referee finds in the requests of this world, as they come; null before the first report. */
export function useConductReport(live: LiveWorld): WorldReport | null {
  const [report, setReport] = useState<WorldReport | null>(null);
  const judge = async (): Promise<void> => setReport(await live.feed.answerTo(live.world.referee()));
  const states = Object.values(live.summary.value?.transactions ?? {}).join(); // an unseen reversal is a finding too
  useTogether(judge, JUDGE_EVERY_MS, [live.requestsVersion.value, states, live.feed.connection.value]);
  return report;
}

import { join } from 'node:path';
import { totalText } from '../../referee/payments.ts';
import { KILL } from '../../trials/hunt/failures.ts';
import { roundName, type HuntFinding, type HuntResult, type Progress } from '../../trials/hunt/hunt.ts';
import { tryWrite } from '../named-files.ts';
import { quoted, say } from '../output.ts';

/** What a hunt shows and writes. */

const perSecond = (runs: number, elapsedMs: number): number =>
  Math.round((runs * 1000) / Math.max(elapsedMs, 1));

const roundText = ({ depth, tried, of }: HuntResult['rounds'][number]): string => {
  const what = roundName(depth);
  return tried === of ? `all ${of} ${what}` : `${tried} of ${of} ${what}`;
};

export function progressText({ runs, elapsedMs, round, findings }: Progress): string {
  const found = findings.length === 0 ? '' : `; found ${findings.map(({ goal }) => goal).join(', ')}`;
  return `${runs} runs, ${perSecond(runs, elapsedMs)} a second; ${roundText(round)}${found}`;
}

/** The files for a finding: its scenario, and what should have been paid. */
const filesOf = ({ goal }: HuntFinding, folder: string) => ({
  scenario: join(folder, `${goal}.yaml`),
  table: join(folder, 'expected.json'),
});

export function writeFinding(finding: HuntFinding, folder: string): void {
  const { scenario, table } = filesOf(finding, folder);
  tryWrite('--write', scenario, finding.yaml);
  tryWrite('--write', table, `${JSON.stringify(finding.expected, null, 2)}\n`);
}

/** @param rest the flags and the command with which `referee` repeats the run */
export function showFinding(finding: HuntFinding, folder: string | undefined, rest: readonly string[]): void {
  say(finding.story);
  if (folder === undefined) return;
  const { scenario, table } = filesOf(finding, folder);
  const severity = finding.goal === 'stuck' ? ['--fail-on', 'warning'] : [];
  if (finding.failures.some(({ kind }) => kind === KILL)) {
    say(`${scenario} holds the response: kill the client then, and run it again.\n`);
    return;
  }
  const words = ['--scenario', scenario, '--expect', table, ...severity, ...rest];
  say(`Run it again:\n  payout-sandbox referee ${words.map(quoted).join(' ')}\n`);
}

/** The last lines: what was seen besides the findings, what was found, and how much of the search was done. */
export function resultLines(result: HuntResult, wasStopped: boolean): readonly string[] {
  const { baseline, findings, flaky, paidSeveralTimes, rounds, notTried, runs, elapsedMs } = result;
  const found = findings.length === 0 ? 'nothing' : findings.map(({ goal }) => goal).join(', ');
  const tried = rounds.map((round) => `; ${roundText(round)}`).join('');
  const seconds = (elapsedMs / 1000).toFixed(1);
  return [
    ...paidSeveralTimes.map(
      (what) => `without any failure, ${what}: if that is not meant, declare --intent or --expect`,
    ),
    ...flaky.map(
      ({ goal, message }) =>
        `not counted, since it did not happen again under the same failures: ${goal}: ${message}`,
    ),
    // an amount that is wrong in every run is seen only here
    ...(baseline === null ? [] : [`without failures: ${totalText(baseline)}`]),
    `found ${found}: ${runs} runs in ${seconds} s, ${perSecond(runs, elapsedMs)} a second${tried}${wasStopped ? '; stopped' : ''}`,
    ...(notTried.length === 0 ? [] : [`not tried: ${notTried.join(', and ')}`]),
  ];
}

import { join } from 'node:path';
import { z } from 'zod';
import { UsageError } from '../../contract/usage-error.ts';
import { junitDocument } from '../../referee/reports/junit.ts';
import { fenced, literal } from '../../referee/reports/markdown.ts';
import { totalText } from '../../referee/payments.ts';
import { failureName } from '../../trials/hunt/failures.ts';
import { GOALS, type Goal } from '../../trials/hunt/goals.ts';
import type { HuntResult, KnownFinding, Progress } from '../../trials/hunt/hunt.ts';
import type { HuntFinding } from '../../trials/hunt/story.ts';
import { tryWrite } from '../named-files.ts';
import { CLEAR_LINE, quoted, say } from '../output.ts';

/** What a hunt shows and writes, and the findings of an earlier hunt that are accepted. */

const LINE_EVERY_MS = 30_000;

const perSecond = (runs: number, elapsedMs: number): number =>
  Math.round((runs * 1000) / Math.max(elapsedMs, 1));

const roundText = ({ depth, tried, of }: HuntResult['rounds'][number]): string => {
  const what = depth === 1 ? 'single failures' : `sequences of ${depth} failures`;
  return tried === of ? `all ${of} ${what}` : `${tried} of ${of} ${what}`;
};

export function progressText({ runs, elapsedMs, round, findings }: Progress): string {
  const found = findings.length === 0 ? '' : `; found ${findings.map(({ goal }) => goal).join(', ')}`;
  return `${runs} runs, ${perSecond(runs, elapsedMs)} a second; ${roundText(round)}${found}`;
}

export const showProgress = (progress: Progress): void =>
  void process.stderr.write(CLEAR_LINE + progressText(progress));

/** Reports every half minute how far the hunt is, in whole lines, for a log. @param write writes a line */
export function progressLines(write: (line: string) => void): (progress: Progress) => void {
  let nextMs = LINE_EVERY_MS;
  return (progress) => {
    if (progress.elapsedMs < nextMs) return;
    nextMs = progress.elapsedMs + LINE_EVERY_MS;
    write(progressText(progress));
  };
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
  const words = ['--scenario', scenario, '--expect', table, ...severity, ...rest];
  say(`Run it again:\n  payout-sandbox referee ${words.map(quoted).join(' ')}\n`);
}

/** `without failures: 1 payout of ₹250.00`: an amount that is wrong in every run is seen only here. */
const baselineLines = ({ baseline }: HuntResult): readonly string[] =>
  baseline === null ? [] : [`without failures: ${totalText(baseline)}`];

/** What was seen besides the findings. @param isMeant which hits, by default all */
const remarks = (
  { known, paidSeveralTimes, flaky }: HuntResult,
  isMeant: (hit: { readonly goal: Goal }) => boolean = () => true,
): readonly string[] => [
  ...paidSeveralTimes.map(
    (what) => `without any failure, ${what}: if that is not meant, declare --intent or --expect`,
  ),
  ...known.filter(isMeant).map(({ goal, message }) => `known: ${goal}: ${message}`),
  ...flaky
    .filter(isMeant)
    .map(
      ({ goal, message }) =>
        `not counted, since it did not happen again under the same failures: ${goal}: ${message}`,
    ),
];

/** The last lines: what was found, and how much of the search was done. */
export function resultLines(result: HuntResult, wasStopped: boolean): readonly string[] {
  const { findings, rounds, runs, elapsedMs } = result;
  const found = findings.length === 0 ? 'nothing' : findings.map(({ goal }) => goal).join(', ');
  const tried = rounds.map((round) => `; ${roundText(round)}`).join('');
  const seconds = (elapsedMs / 1000).toFixed(1);
  return [
    ...remarks(result),
    ...baselineLines(result),
    `found ${found}: ${runs} runs in ${seconds} s, ${perSecond(runs, elapsedMs)} a second${tried}${wasStopped ? '; stopped' : ''}`,
  ];
}

const NAME = 'payout hunt';

/** A finding in a report, and in a file of known ones. */
const findingOf = ({ goal, message, failures, words }: HuntFinding) => ({
  goal,
  message,
  failures: failures.map(failureName),
  what_fails: words,
});

export const huntReport = ({
  goals,
  baseline,
  findings,
  known,
  flaky,
  rounds,
  runs,
  elapsedMs,
}: HuntResult) => ({
  goals,
  baseline,
  findings: findings.map(findingOf),
  known: known.map(findingOf),
  flaky,
  rounds,
  runs,
  elapsed_ms: elapsedMs,
});

/** `all 9 single failures, 27 of 131 sequences of 2 failures` */
const coverageText = ({ rounds }: HuntResult): string =>
  rounds.length === 0 ? 'no failures' : rounds.map(roundText).join(', ');

/** Nothing that was not looked for, or for which no failure was tried, has passed. */
function goalCase(result: HuntResult, goal: Goal) {
  const about = { classname: NAME, name: goal, ms: 0 };
  const found = result.findings.find((finding) => finding.goal === goal);
  if (found !== undefined)
    return { ...about, failure: { type: goal, message: found.message, text: found.story } };
  if (!result.goals.includes(goal)) return { ...about, skipped: 'not looked for: --goal names others' };
  if (result.rounds.every(({ tried }) => tried === 0)) return { ...about, skipped: 'no failure was tried' };
  const lines = [
    `tried ${coverageText(result)}`,
    ...remarks({ ...result, paidSeveralTimes: [] }, (hit) => hit.goal === goal),
  ];
  return { ...about, output: lines.join('\n') };
}

export const HUNT_WRITERS: Readonly<Record<string, (result: HuntResult) => string>> = {
  markdown: (result) =>
    [
      `## Payout hunt: ${result.findings.length === 0 ? 'nothing found' : 'failed'}`,
      '',
      `Looked for ${result.goals.join(', ')}. Tried ${coverageText(result)}.`,
      '',
      `${result.findings.length} found, ${result.known.length} known, ${result.runs} runs`,
      '',
      ...baselineLines(result).flatMap((text) => [text, '']),
      ...remarks(result).flatMap((text) => [`- ${literal(text)}`, '']),
      ...result.findings.flatMap(({ goal, message, story }) => [
        `### ${goal}: ${literal(message)}`,
        '',
        fenced(story.trimEnd().split('\n')),
        '',
      ]),
    ].join('\n'),
  junit: (result) => {
    const cases = GOALS.map((goal) => goalCase(result, goal));
    return junitDocument(NAME, [{ name: NAME, ms: result.elapsedMs, cases }]);
  },
  json: (result) => `${JSON.stringify(huntReport(result), null, 2)}\n`,
};

const EarlierReport = z.object({
  findings: z.array(z.object({ goal: z.enum(GOALS), failures: z.array(z.string()) })),
});

/** The findings in a JSON report of an earlier hunt. */
export function knownFindings(text: string): readonly KnownFinding[] {
  try {
    return EarlierReport.parse(JSON.parse(text)).findings;
  } catch (cause) {
    throw new UsageError('it is not a report of hunt in JSON, as its report json or --json writes it', {
      cause,
    });
  }
}

import { join } from 'node:path';
import { sandboxAt } from '../client/sandbox.ts';
import { systemClock } from '../platform/system-clock.ts';
import { totalText } from '../referee/payments.ts';
import type { SettingName, Settings } from '../settings.ts';
import { KILL } from '../trials/hunt/failures.ts';
import { roundName, runHunt, type HuntFinding, type HuntResult, type Progress } from '../trials/hunt/hunt.ts';
import { huntSettings, type HuntSettings } from '../trials/hunt/options.ts';
import type { HuntFlags } from './commands/test-flags.ts';
import { joinedWorlds, openJoinPoint, PER_RUN_SETTINGS } from './join-point.ts';
import { tryWrite, makeFolder } from './named-files.ts';
import { quoted, say, CLEAR_LINE, sayJson, searchExitCode } from './output.ts';
import { clientSettings, givenSettings, startOwnServer, type SettingFlags } from './own-server.ts';
import { conductSettings } from './referee/conduct-options.ts';
import { untilStopped } from './stop-signal.ts';
import { clientOf, typed } from './client-command.ts';

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

const FOR_HUNTING: SettingFlags = { settlement: 'instant', rateLimit: 'off' };

/** What the scenario of a run decides. */
const IN_SCENARIO: readonly SettingName[] = ['openingBalance', 'seed', 'settlement', 'rateLimit'];

/** The flags with which `referee` repeats a run: the last two are settings of the sandbox that a scenario cannot hold. */
const REPEATED = ['intent', 'patience', 'magic', 'clock', 'env'] as const;

function huntSettingsOf(flags: HuntFlags, { seed }: Settings): HuntSettings {
  const { goal, runs, depth, time, workers } = flags;
  const { intent, expect, off, limits } = conductSettings(flags);
  const given = {
    intent,
    expect,
    off,
    patience: limits?.patience,
    seed,
    time,
    runs,
    depth,
    workers,
    goals: goal.length === 0 ? undefined : goal.flatMap((names) => names.split(',')),
  };
  return huntSettings(given, (name) => (name === 'goals' ? '--goal' : `--${name}`));
}

/** `payout-sandbox hunt -- COMMAND`. @returns the exit code: 1 when something was found, 0 when nothing was */
export async function huntCommand(
  command: readonly string[],
  flags: HuntFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const client = clientOf('hunt', command, flags, environment);
  const { write: folder, json: isJson } = flags;
  const sandboxSettings = clientSettings(FOR_HUNTING, settingFlags, environment, true);
  const settings = huntSettingsOf(flags, sandboxSettings);
  if (folder !== undefined) makeFolder('--write', folder);
  const isTerminal = process.stderr.isTTY;
  const showProgress = (text: string): void => void (isTerminal && process.stderr.write(CLEAR_LINE + text));
  const again = [...typed({ ...flags, ...settingFlags }, REPEATED), '--', ...command];
  const joined = {
    by: 'hunt',
    usual: FOR_HUNTING,
    fixed: [...givenSettings(settingFlags, environment), ...PER_RUN_SETTINGS, ...IN_SCENARIO],
    said: new Set<string>(),
    collect: joinedWorlds,
  };
  return untilStopped(async (stop) => {
    const server = await startOwnServer(sandboxSettings);
    const noNewKeys = (): string => ''; // every run names its key
    await using sandbox = sandboxAt(server, noNewKeys, () => server.close());
    const result = await runHunt(settings, {
      sandbox,
      settlement: sandboxSettings.settlement,
      wallClock: systemClock(),
      openJoined: (scenario) => openJoinPoint({ ...joined, outer: { ...sandboxSettings, scenario } }),
      client,
      mayKill: flags.kill,
      stop,
      tableName: `--expect ${flags.expect}`,
      onFinding(finding) {
        showProgress('');
        if (folder !== undefined) writeFinding(finding, folder);
        if (!isJson) showFinding(finding, folder, again);
      },
      onRun: (progress) => showProgress(progressText(progress)),
    });
    showProgress('');
    if (isJson) sayJson(result);
    else resultLines(result, stop.aborted).forEach(say);
    return searchExitCode(result.findings.length > 0, stop.aborted, true);
  });
}

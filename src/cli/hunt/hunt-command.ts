import { sandboxAt } from '../../client/sandbox.ts';
import { systemClock } from '../../platform/system-clock.ts';
import type { SettingName, Settings } from '../../settings.ts';
import { runHunt } from '../../trials/hunt/hunt.ts';
import { huntSettings, type HuntSettings } from '../../trials/hunt/options.ts';
import type { HuntFlags } from '../commands/test-flags.ts';
import { conductSettings } from '../referee/conduct-options.ts';
import { joinedWorlds, openJoinPoint, PER_RUN_SETTINGS } from '../join-point.ts';
import { makeFolder } from '../named-files.ts';
import { CLEAR_LINE, say, sayJson, searchExitCode } from '../output.ts';
import { clientSettings, givenSettings, startOwnServer, type SettingFlags } from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import { progressText, resultLines, showFinding, writeFinding } from './hunt-report.ts';
import { clientOf, typed } from './hunted-command.ts';

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

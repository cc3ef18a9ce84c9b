import type { HuntParts, HuntResult } from '../../trials/hunt/hunt.ts';
import { HuntError, huntSettings, type HuntSettings } from '../../trials/hunt/options.ts';
import { SettingsError, type SettingName, type Settings } from '../../settings.ts';
import {
  conductOptions,
  reportOf,
  tableName,
  writeReport,
  type ConductFlags,
} from '../referee/conduct-options.ts';
import { clientCommand } from '../client-command.ts';
import { makeFolder } from '../named-files.ts';
import { complain, EXIT_FAILED, EXIT_OK, EXIT_STOPPED, say, sayJson } from '../output.ts';
import { givenSettings, usualWorkers, type SettingFlags } from '../own-server.ts';
import { untilStopped } from '../stop-signal.ts';
import {
  clearProgress,
  progressLines,
  resultLines,
  showFinding,
  showProgress,
  writeFinding,
} from './hunt-report.ts';
import { huntInOwnSandbox, huntingSettings } from './hunt-sandbox.ts';
import { exitCodesOf } from './exit-codes.ts';
import { HUNT_WRITERS, huntReport, knownFindings } from './hunt-files.ts';
import { huntedCommand } from './hunted-command.ts';

export interface HuntFlags extends Pick<ConductFlags, 'intent' | 'expect' | 'settings' | 'patience'> {
  /** NAME=VALUE, in which {url} and {key} are filled in. */
  readonly env: readonly string[];
  readonly goal: readonly string[];
  readonly runs?: string;
  readonly depth?: string;
  readonly time?: string;
  readonly workers?: string;
  readonly write?: string;
  readonly exitCodes?: string;
  readonly known?: string;
  readonly report: readonly string[];
  readonly json?: true;
}

/** The settings of the sandbox that a scenario cannot hold. */
const BESIDE_SCENARIO = ['magic', 'clock'] as const;

/** A count as a number. Anything else stays text, and is refused later. */
const numberOf = (text: string | undefined): unknown =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : text;

/** @throws HuntError, SettingsError for a flag that cannot be used */
function huntSettingsOf(flags: HuntFlags, { seed }: Settings): HuntSettings {
  const { goal, runs, depth, time, workers } = flags;
  const options = conductOptions({ ...flags, off: [], report: [], failOn: 'error', require: [] });
  const { intent, expect, off, limits } = options.settings;
  const given = {
    intent,
    expect,
    off,
    patience: limits?.patience,
    seed,
    time,
    runs: numberOf(runs),
    depth: numberOf(depth),
    workers: numberOf(workers) ?? usualWorkers(),
    goals: goal.length === 0 ? undefined : goal.flatMap((names) => names.split(',')),
  };
  return huntSettings(given, (name) => (name === 'goals' ? '--goal' : `--${name}`));
}

/** The flags and the command with which `referee` repeats a run. */
const rerunWords = (
  command: readonly string[],
  flags: HuntFlags,
  settingFlags: SettingFlags,
): readonly string[] => [
  ...(flags.intent === undefined ? [] : ['--intent', flags.intent]),
  ...(flags.settings === undefined ? [] : ['--settings', flags.settings]),
  ...(flags.patience === undefined ? [] : ['--patience', flags.patience]),
  ...BESIDE_SCENARIO.flatMap((name) =>
    settingFlags[name] === undefined ? [] : [`--${name}`, settingFlags[name]],
  ),
  ...flags.env.flatMap((text) => ['--env', text]),
  '--',
  ...command,
];

/**
 * `payout-sandbox hunt -- COMMAND`: runs a command again and again, and searches for the fewest failures under which it
 * pays twice, loses a payout, gets stuck or misbehaves.
 *
 * @param settingFlags the flags of the sandbox's own settings
 * @returns the exit code: 1 when something was found, 0 when nothing was, 2 for input that cannot be used
 */
export async function huntCommand(
  command: readonly string[],
  flags: HuntFlags,
  settingFlags: SettingFlags,
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  if (command.length === 0) {
    throw new SettingsError(
      'hunt needs a command: payout-sandbox hunt --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm run pay-once',
    );
  }
  const sandboxSettings = huntingSettings(settingFlags, environment);
  try {
    const settings = huntSettingsOf(flags, sandboxSettings);
    const client = huntedCommand(
      clientCommand(command, flags.env, environment),
      exitCodesOf(flags.exitCodes),
    );
    const known = flags.known === undefined ? [] : knownFindings(flags.known);
    const reports = flags.report.map((text) => reportOf(text, HUNT_WRITERS, flags.json));
    if (flags.write !== undefined) makeFolder('--write', flags.write);
    return await hunt(settings, sandboxSettings, givenSettings(settingFlags, environment), {
      client,
      known,
      onResult(result, wasStopped) {
        if (flags.json) sayJson(huntReport(result));
        else resultLines(result, wasStopped).forEach(say);
        for (const { write, file } of reports) writeReport(write(result), file, environment);
      },
      tableName: tableName(flags),
      onFinding(finding) {
        if (flags.write !== undefined) writeFinding(finding, flags.write);
        if (!flags.json) showFinding(finding, flags.write, rerunWords(command, flags, settingFlags));
      },
    });
  } catch (error) {
    if (error instanceof HuntError) return complain(error.message);
    throw error;
  }
}

/** Hunts until it is done or a signal stops it, and shows the progress. */
const hunt = (
  settings: HuntSettings,
  sandboxSettings: Settings,
  given: readonly SettingName[],
  {
    onFinding,
    onResult,
    ...parts
  }: Pick<HuntParts, 'client' | 'tableName' | 'known'> &
    Required<Pick<HuntParts, 'onFinding'>> & {
      readonly onResult: (result: HuntResult, wasStopped: boolean) => void;
    },
): Promise<number> =>
  untilStopped(async (stop) => {
    const isTerminal = process.stderr.isTTY;
    const result = await huntInOwnSandbox(settings, sandboxSettings, given, {
      ...parts,
      stop,
      onFinding(finding) {
        if (isTerminal) clearProgress();
        onFinding(finding);
      },
      onRun: isTerminal ? showProgress : progressLines((line) => void process.stderr.write(`${line}\n`)),
    });
    if (isTerminal) clearProgress();
    onResult(result, stop.aborted);
    if (result.findings.length > 0) return EXIT_FAILED;
    return stop.aborted ? EXIT_STOPPED : EXIT_OK;
  });

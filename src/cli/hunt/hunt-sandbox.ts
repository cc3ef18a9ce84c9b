import { sandboxAt } from '../../client/sandbox.ts';
import { runHunt, type HuntDeps, type HuntResult } from '../../trials/hunt/hunt.ts';
import type { HuntSettings } from '../../trials/hunt/options.ts';
import { systemClock } from '../../platform/system-clock.ts';
import type { OpenJoinedRun } from '../../trials/hunt/world-runs.ts';
import type { SettingName, Settings } from '../../settings.ts';
import { joinedWorlds, PER_RUN_SETTINGS, openJoinPoint } from '../join-point.ts';
import { clientSettings, startOwnServer, type SettingFlags } from '../own-server.ts';

const FOR_HUNTING: SettingFlags = { settlement: 'instant', rateLimit: 'off' };

/** What the scenario of a run decides. */
const IN_SCENARIO: readonly SettingName[] = ['openingBalance', 'seed', 'settlement', 'rateLimit'];

/** The settings of the sandbox that a hunt of a command has to itself. */
export const huntingSettings = (flags: SettingFlags, environment: NodeJS.ProcessEnv): Settings =>
  clientSettings(FOR_HUNTING, flags, environment, true);

/** Starts a sandbox, hunts in it and stops it. @param given the settings that the user gave @throws HuntError, or an error of the start */
export async function huntInOwnSandbox(
  settings: HuntSettings,
  sandboxSettings: Settings,
  given: readonly SettingName[],
  deps: Omit<HuntDeps, 'sandbox' | 'settlement' | 'wallClock' | 'openJoined'>,
): Promise<HuntResult> {
  const server = await startOwnServer(sandboxSettings);
  const noNewKeys = (): string => ''; // every run names its key
  await using sandbox = sandboxAt(server, noNewKeys, () => server.close());
  const { settlement } = sandboxSettings;
  const said = new Set<string>();
  const openJoined: OpenJoinedRun = (scenario) =>
    openJoinPoint({
      by: 'hunt',
      usual: FOR_HUNTING,
      outer: { ...sandboxSettings, scenario },
      fixed: [...given, ...PER_RUN_SETTINGS, ...IN_SCENARIO],
      said,
      collect: (server) => joinedWorlds(server),
    });
  const wallClock = systemClock();
  return await runHunt(settings, { ...deps, sandbox, settlement, wallClock, openJoined });
}

import { sandboxAt } from '../../client/sandbox.ts';
import { runHunt, type HuntParts, type HuntResult } from '../../trials/hunt/hunt.ts';
import type { HuntSettings } from '../../trials/hunt/options.ts';
import { systemClock } from '../../platform/system-clock.ts';
import type { Settings } from '../../settings.ts';
import { isolatedSettings, startOwnServer, type SettingFlags } from '../own-server.ts';

const FOR_HUNTING: SettingFlags = { settlement: 'instant', rateLimit: 'off', journalEntries: '10000' };

/** The settings of the sandbox that a hunt of a command has to itself. @throws SettingsError */
export const huntingSettings = (flags: SettingFlags, environment: NodeJS.ProcessEnv): Settings =>
  isolatedSettings(FOR_HUNTING, flags, environment);

/** Starts a sandbox, hunts in it and stops it. @throws HuntError, or an error of the start */
export async function huntInOwnSandbox(
  settings: HuntSettings,
  sandboxSettings: Settings,
  parts: Omit<HuntParts, 'sandbox' | 'settlement' | 'wallClock'>,
): Promise<HuntResult> {
  const server = await startOwnServer(sandboxSettings);
  const close = (): Promise<void> => server.close();
  const sandbox = sandboxAt(server, () => '', close); // every run names its key
  const { settlement } = sandboxSettings;
  try {
    return await runHunt(settings, { ...parts, sandbox, settlement, wallClock: systemClock() });
  } finally {
    await close();
  }
}

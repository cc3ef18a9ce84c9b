import { availableParallelism } from 'node:os';
import { pino } from 'pino';
import { sandboxAt } from '../../client/sandbox.ts';
import { runHunt, type HuntParts, type HuntResult } from '../../hunt/hunt.ts';
import type { HuntSettings } from '../../hunt/options.ts';
import { logOptions } from '../../platform/log-line.ts';
import { systemClock } from '../../platform/system-clock.ts';
import { startServer } from '../../server.ts';
import { readSettings, type Settings } from '../../settings.ts';

/** The sandbox that a hunt of a command has to itself. */

/** What a hunt needs of its sandbox where nothing else is asked for. */
const FOR_HUNTING = { settlement: 'instant', rateLimit: 'off', journalEntries: '10000', logLevel: 'silent' };
/** More commands at once get in each other's way. */
const MOST_WORKERS = 4;

export const usualWorkers = (): number => Math.min(availableParallelism(), MOST_WORKERS);

/** @param flags settings by their names @throws SettingsError */
export const huntingSettings = (
  flags: Readonly<Record<string, string | undefined>>,
  environment: NodeJS.ProcessEnv,
): Settings =>
  readSettings(
    { port: '0', ...FOR_HUNTING, ...flags },
    { ...environment, PORT: '', SANDBOX_API_KEYS: '', SANDBOX_STATE: '', SANDBOX_STORE: '' }, // keys and worlds of its own
  );

/** Starts a sandbox, hunts in it and stops it. @throws HuntError, or an error of the start */
export async function huntInOwnSandbox(
  settings: HuntSettings,
  sandboxSettings: Settings,
  parts: Omit<HuntParts, 'sandbox' | 'settlement' | 'wallClock'>,
): Promise<HuntResult> {
  const wallClock = systemClock();
  const server = await startServer(sandboxSettings, wallClock, pino(logOptions(sandboxSettings)));
  const close = (): Promise<void> => server.close();
  const sandbox = sandboxAt(server, () => '', close); // every run names its key
  try {
    return await runHunt(settings, {
      ...parts,
      sandbox,
      settlement: sandboxSettings.settlement,
      wallClock,
    });
  } finally {
    await close();
  }
}

import { readSettings, SettingsError } from '../settings.ts';
import { complain } from './output.ts';

/**
 * The command `payout-sandbox`.
 *
 * @param args what stands after the command's name
 * @returns the exit code: 0 when it was stopped by a signal or a command did its work, 1 for a scenario file that is not
 *   valid or a sandbox that is not ready, 2 for a wrong flag, setting, scenario or address
 */
export async function commandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  process.stdout.on('error', () => undefined); // a reader that has seen enough, as `head`
  try {
    if (args.length > 0) {
      const { runCommand } = await import('./program.ts'); // only where there is something to parse
      return await runCommand(args, environment);
    }
    const settings = readSettings({}, environment);
    const { serve } = await import('./serve.ts');
    return await serve(settings);
  } catch (error) {
    if (error instanceof SettingsError) return complain(error.message);
    throw error;
  }
}

import { UsageError } from '../contract/usage-error.ts';
import { readSettings } from '../settings.ts';
import { complain } from './output.ts';
import { warnOfUnknownVariables } from './variables.ts';

/** The command `payout-sandbox`. @param args what follows its name @returns the exit code; `--help` explains it */
export async function commandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  warnOfUnknownVariables(environment);
  try {
    if (args.length > 0) {
      const { runCommand } = await import('./program.ts'); // only where there is something to parse
      return await runCommand(args, environment);
    }
    const settings = readSettings({}, environment);
    const { serve } = await import('./serve.ts');
    return await serve(settings, environment);
  } catch (error) {
    if (error instanceof UsageError) return complain(...error.message.split('\n'));
    throw error;
  }
}

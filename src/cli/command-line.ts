import { parseArgs } from 'node:util';
import { UsageError } from '../contract/usage-error.ts';
import { readSettings, SETTINGS } from '../settings.ts';
import { complain } from './output.ts';
import { warnOfUnknownVariables } from './variables.ts';

const OPTIONS = Object.fromEntries(SETTINGS.map(({ flag }) => [flag.slice(2), { type: 'string' }] as const));

/** The flags of settings, by their names; null when there is anything else, for which the commands must be loaded. */
function onlySettings(args: readonly string[]): Readonly<Record<string, unknown>> | null {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    return Object.fromEntries(SETTINGS.map(({ name, flag }) => [name, values[flag.slice(2)]]));
  } catch {
    return null;
  }
}

/** The command `payout-sandbox`. @param args what follows its name @returns the exit code; `--help` explains it */
export async function commandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  warnOfUnknownVariables(environment);
  try {
    const flags = onlySettings(args);
    if (flags === null) {
      const { runCommand } = await import('./program.ts');
      return await runCommand(args, environment);
    }
    const settings = readSettings(flags, environment);
    const { serve } = await import('./serve.ts');
    return await serve(settings, environment);
  } catch (error) {
    if (error instanceof UsageError) return complain(...error.message.split('\n'));
    throw error;
  }
}

import { parseArgs } from 'node:util';
import { suggestion } from '../contract/suggestion.ts';
import { UsageError } from '../contract/usage-error.ts';
import { removedText } from '../removed.ts';
import { readSettings, SETTINGS, SettingsError } from '../settings.ts';
import { complain } from './output.ts';

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

const PREFIX = 'SANDBOX_';

/** Variables that Kubernetes sets for a service called sandbox, in addition to SANDBOX_PORT=tcp://… */
const OF_KUBERNETES = /^SANDBOX_(?:SERVICE_|PORT_\d)/;

/**
 * Warns of variables that look like settings but are not: most are misspelt, and would otherwise be ignored silently.
 *
 * @throws SettingsError for one that an earlier edition had
 */
function checkUnknownVariables(environment: NodeJS.ProcessEnv): void {
  const known = [...SETTINGS.map(({ env }) => env), 'SANDBOX_URL', 'SANDBOX_KEY']; // two that only commands read
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    const removed = removedText(name);
    if (removed !== undefined) throw new SettingsError(removed);
    if (OF_KUBERNETES.test(name) || value.startsWith('tcp://')) continue;
    // compared without the prefix, which would make different names look alike
    const names = known.map((one) => one.slice(PREFIX.length));
    const hint = suggestion(name.slice(PREFIX.length), names, (near) => PREFIX + near);
    complain(`warning: ${name} is not a setting and is ignored${hint}`);
  }
}

/** The command `payout-sandbox`. @param args what follows its name @returns the exit code; `--help` explains it */
export async function commandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    checkUnknownVariables(environment);
    const flags = onlySettings(args);
    if (flags === null) {
      const { runCommand } = await import('./program.ts');
      return await runCommand(args, environment);
    }
    const settings = readSettings(flags, environment, true);
    const { serve } = await import('./serve.ts');
    return await serve(settings, environment);
  } catch (error) {
    if (error instanceof UsageError) return complain(...error.message.split('\n'));
    throw error;
  }
}

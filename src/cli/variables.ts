import { suggestion } from '../contract/suggestion.ts';
import { SETTINGS } from '../settings.ts';
import { complain } from './output.ts';

/** The variables that commands read in addition to those of the settings. */
const OF_COMMANDS = ['SANDBOX_URL', 'SANDBOX_KEY'];
const PREFIX = 'SANDBOX_';

const bareName = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/** Variables that Kubernetes sets for a service called sandbox, in addition to SANDBOX_PORT=tcp://… */
const OF_KUBERNETES = /^SANDBOX_(?:SERVICE_|PORT_\d)/;

/** Warns of variables that look like settings but are not: most are misspelt, and would otherwise be ignored silently. */
export function warnOfUnknownVariables(environment: NodeJS.ProcessEnv): void {
  const known = [...SETTINGS.map(({ env }) => env), ...OF_COMMANDS];
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    if (OF_KUBERNETES.test(name) || value.startsWith('tcp://')) continue;
    // compared without the prefix, which would make different names look alike, and which PORT does not have
    const hint = suggestion(bareName(name), known.map(bareName), (near) =>
      known.find((one) => bareName(one) === near)!,
    );
    complain(`warning: ${name} is not a setting and is ignored${hint}`);
  }
}

import { suggestion } from '../contract/suggestion.ts';
import { SETTINGS } from '../settings.ts';
import { complain } from './output.ts';

/** The variables that commands read beside those of the settings. */
const OF_COMMANDS = ['SANDBOX_URL', 'SANDBOX_KEY'];
const PREFIX = 'SANDBOX_';

const bareName = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/** What Kubernetes sets for a service that is called sandbox, beside SANDBOX_PORT=tcp://… */
const OF_KUBERNETES = /^SANDBOX_(?:SERVICE_|PORT_\d)/;

/** Warns of variables that look like settings and are none: most are misspelt, and would change nothing in silence. */
export function warnOfUnknownVariables(environment: NodeJS.ProcessEnv): void {
  const known = [...SETTINGS.map(({ env }) => env), ...OF_COMMANDS];
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    if (OF_KUBERNETES.test(name) || value.startsWith('tcp://')) continue;
    // compared without the prefix, which would make unlike names alike, and which PORT does not have
    const hint = suggestion(bareName(name), known.map(bareName), (near) =>
      known.find((one) => bareName(one) === near)!,
    );
    complain(`warning: ${name} is not a setting and is ignored${hint}`);
  }
}

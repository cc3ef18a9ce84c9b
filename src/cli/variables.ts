import { suggestion } from '../contract/suggestion.ts';
import { SETTINGS } from '../settings.ts';
import { complain } from './output.ts';

/** The variables that commands read beside those of the settings. */
const OF_COMMANDS = ['SANDBOX_URL', 'SANDBOX_KEY'];
const PREFIX = 'SANDBOX_';

/** What Kubernetes sets for a service that is called sandbox, beside SANDBOX_PORT=tcp://… */
const OF_KUBERNETES = /^SANDBOX_(?:SERVICE_|PORT_\d)/;

/** Warns of variables that look like settings and are none: most are misspelt, and would change nothing in silence. */
export function warnOfUnknownVariables(environment: NodeJS.ProcessEnv): void {
  const known = [...SETTINGS.map(({ env }) => env), ...OF_COMMANDS];
  for (const [name, value = ''] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue;
    if (OF_KUBERNETES.test(name) || value.startsWith('tcp://')) continue;
    const bare = name.slice(PREFIX.length);
    const hint = known.includes(bare) ? ` (did you mean ${bare}?)` : suggestion(name, known);
    complain(`warning: there is no variable ${name}${hint}: it changes nothing`);
  }
}

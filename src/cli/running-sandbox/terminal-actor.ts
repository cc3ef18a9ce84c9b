import { adviceOn, errorLines, type Actor } from '../../actions/sandbox-action.ts';
import { NoSandboxError, SandboxError } from '../../client/control-client.ts';
import { ExpectationError } from '../../client/expectation.ts';
import { sandboxAt } from '../../client/sandbox.ts';
import { readSettings } from '../../settings.ts';
import { checkAddress, addressOf } from '../health.ts';
import { checkWritable, textOfFile, writeText } from '../named-files.ts';
import { complain, EXIT_FAILED, paintFor } from '../output.ts';

export interface ActorFlags {
  readonly url?: string;
  readonly adminToken?: string;
}

const DEFAULT_KEY = 'sk_test_demo';

const keyOf = (flag: string | undefined, environment: NodeJS.ProcessEnv): string =>
  flag ?? (environment['SANDBOX_KEY'] || DEFAULT_KEY);

function urlOf(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const given = flag ?? environment['SANDBOX_URL'];
  if (given) {
    checkAddress(flag === undefined ? 'SANDBOX_URL' : '--url', given);
    return given.replace(/\/_sandbox\/?$/, ''); // the address of its page
  }
  return addressOf(readSettings({}, environment));
}

/** Whoever types a command: its texts are in files. No request is sent. */
export function terminalActor({ url, adminToken }: ActorFlags, environment: NodeJS.ProcessEnv): Actor {
  const token = adminToken ?? environment['SANDBOX_ADMIN_TOKEN'];
  const sandbox = sandboxAt({ url: urlOf(url, environment), adminToken: token }, () => DEFAULT_KEY);
  return {
    sandbox,
    world: (key) => sandbox.world(keyOf(key, environment)),
    // a key that the user gave may be a secret
    keyText: (key) => (keyOf(key, environment) === DEFAULT_KEY ? `the key ${DEFAULT_KEY}` : 'your key'),
    texts: {
      read: (calledBy, file) => ({
        name: file === '-' ? 'standard input' : String(file),
        text: textOfFile(calledBy, String(file)),
      }),
      async save(calledBy, file, text) {
        checkWritable(calledBy, file);
        writeText(calledBy, file, await text());
      },
      saved: textOfFile,
    },
    paint: paintFor(environment),
  };
}

const advice = {
  noSandbox: '; start one with payout-sandbox, or give the address of another with --url or SANDBOX_URL',
  adminToken: '; --admin-token or SANDBOX_ADMIN_TOKEN names the token',
  key: '; --key or SANDBOX_KEY names another key',
};

/** Refusals of something that the sandbox can do, but not now: a balance that is too low, a state that does not allow it. */
const NOT_NOW: ReadonlySet<number> = new Set([402, 409]);

/** Reports an error of a sandbox or of what was asked of it. @throws any other error */
export function complainOf(error: unknown): number {
  const isOurs =
    error instanceof NoSandboxError || error instanceof SandboxError || error instanceof ExpectationError;
  if (!isOurs) throw error;
  const misuse = complain(errorLines(error).join('; ') + adviceOn(error, advice));
  return error instanceof SandboxError && NOT_NOW.has(error.status) ? EXIT_FAILED : misuse;
}

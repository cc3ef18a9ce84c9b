import { ControlClient, NoSandboxError, SandboxError } from '../../client/control-client.ts';
import { TestWorld } from '../../client/test-world.ts';
import { readSettings, SettingsError } from '../../settings.ts';
import { checkAddress } from '../flag-checks.ts';
import { addressOf } from '../health.ts';
import { complain, EXIT_FAILED, EXIT_OK, say } from '../output.ts';
import { paintFor, type Paint } from './readable.ts';

/** The flags of every command that uses a running sandbox. */
export interface SessionFlags {
  readonly url?: string;
  readonly key?: string;
  readonly json?: true;
}

/** The world of a running sandbox that a command works on. */
export interface Session {
  readonly world: TestWorld;
  /** For what `world` does not offer: a page of a list, the version. */
  readonly control: ControlClient;
  /** The key in words. A key that the user gave may be a secret, so it is not shown. */
  readonly keyText: string;
  readonly isJson: boolean;
  readonly paint: Paint;
}

const DEFAULT_KEY = 'sk_test_demo';

function keyOf(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const key = flag ?? (environment['SANDBOX_KEY'] || DEFAULT_KEY);
  if (/^[\x21-\x7e]{1,256}$/.test(key)) return key;
  throw new SettingsError(
    `${flag === undefined ? 'SANDBOX_KEY' : '--key'} must be a key of visible ASCII characters`,
  );
}

/** @throws SettingsError for a text that is not an address */
function urlOf(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const given = flag ?? environment['SANDBOX_URL'];
  if (given) {
    checkAddress(flag === undefined ? 'SANDBOX_URL' : '--url', given);
    return given.replace(/\/_sandbox\/?$/, ''); // the address of its page
  }
  const settings = readSettings({}, environment);
  if (settings.port > 0) return addressOf(settings);
  throw new SettingsError('port 0 is not a port to connect to: give the address of the sandbox with --url');
}

/** Opens a session. No request is sent. @throws SettingsError for an address or a key that cannot be used */
export function sessionOf({ url, key, json }: SessionFlags, environment: NodeJS.ProcessEnv): Session {
  const at = urlOf(url, environment);
  const apiKey = keyOf(key, environment);
  return {
    world: new TestWorld(at, apiKey),
    control: new ControlClient(at, apiKey),
    keyText: apiKey === DEFAULT_KEY ? `the key ${DEFAULT_KEY}` : 'your key',
    isJson: json === true,
    paint: paintFor(environment),
  };
}

/** What to do about a sandbox that cannot be reached, or that refuses. */
function advice(error: NoSandboxError | SandboxError): string {
  if (error instanceof NoSandboxError) {
    return '; start one with payout-sandbox, or give the address of another with --url or SANDBOX_URL';
  }
  return error.status === 401 ? '; --key or SANDBOX_KEY names another key' : '';
}

/** The statuses of refusals that are about the user's input: an amount, a name, a file. */
const ABOUT_WHAT_WAS_TYPED: ReadonlySet<number> = new Set([400, 404, 422]);

/**
 * Runs a command against a sandbox, and reports its errors.
 *
 * @returns the exit code: that of `ask`; 2 for wrong input, 1 when the sandbox cannot be reached or refuses for another reason
 */
export async function askSandbox(session: Session, ask: () => Promise<number | void>): Promise<number> {
  try {
    return (await ask()) ?? EXIT_OK;
  } catch (error) {
    if (!(error instanceof NoSandboxError) && !(error instanceof SandboxError)) throw error;
    const misuse = complain(error.message + advice(error));
    const isTyped =
      error instanceof SandboxError && error.code !== 'UNKNOWN' && ABOUT_WHAT_WAS_TYPED.has(error.status);
    return isTyped ? misuse : EXIT_FAILED;
  }
}

/** Prints an answer: as JSON, or as lines for people. */
export function show({ isJson }: Session, answer: unknown, lines: () => readonly string[]): void {
  if (isJson) say(JSON.stringify(answer, null, 2));
  else lines().forEach(say);
}

import { setTimeout as pause } from 'node:timers/promises';
import { checkSandbox, NoSandboxError, reasonOf, textOf } from '../client/control-client.ts';
import { sendOverHttp } from '../client/http-client.ts';
import { stopwatchMs } from '../platform/system-clock.ts';
import { SETTINGS, SettingsError, type Settings } from '../settings.ts';
import { complain, EXIT_FAILED, EXIT_OK, say } from './output.ts';

/** @param calledBy the flag that names the address */
export function checkAddress(calledBy: string, url: string): void {
  const written = JSON.stringify(url);
  if (!/^https?:\/\//.test(url)) {
    throw new SettingsError(`${calledBy} must begin with http:// or https://, not ${written}`);
  }
  if (!URL.canParse(url)) {
    throw new SettingsError(`${calledBy} must have a host, and a port of at most 65535, not ${written}`);
  }
  if (new URL(url).username !== '') {
    throw new SettingsError(`${calledBy} must not contain a user name: requests are sent with a key alone`);
  }
}

/** Checks `--url`, and refuses a setting that cannot be applied, since the sandbox runs elsewhere. */
export function checkElsewhere(url: string, settingFlags: Readonly<Record<string, unknown>>): void {
  checkAddress('--url', url);
  const ours = SETTINGS.find(({ name }) => name !== 'adminToken' && settingFlags[name] !== undefined);
  if (ours === undefined) return;
  throw new SettingsError(`${ours.flag} cannot be set with --url: that sandbox already has its own settings`);
}

const PATIENCE_MS = 3000;
const AGAIN_MS = 100;

export function addressOf({ host, port, tls, tlsCert }: Settings): string {
  // a sandbox that listens on every address is reached on that of the loopback
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const scheme = (tls ?? tlsCert) === undefined ? 'http' : 'https';
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const NO_STORE = 'its store is unavailable';

/** Why a sandbox is not ready; null when it is. */
async function notReady(base: string): Promise<string | null> {
  try {
    const response = await sendOverHttp(`${base}/_sandbox/health`, {
      method: 'GET',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    checkSandbox(response, base);
    const isStoreAway = (await textOf(response, 1)).includes('"store_unavailable"');
    if (response.status === 200) return isStoreAway ? NO_STORE : null;
    return isStoreAway ? 'it has not reached its store yet' : `it returns ${response.status}`;
  } catch (error) {
    if (error instanceof NoSandboxError) return error.message;
    return (error as Error).name === 'TimeoutError' ? 'no response' : reasonOf(error);
  }
}

/**
 * `payout-sandbox health`: asks until the sandbox is ready, for `waitMs` at most. Without a wait, a store that is unavailable is
 * reported, but is no failure once it was reached: the command is the health check of containers, and a restart would not bring it back.
 */
export async function askHealth(address: string, waitMs: number): Promise<number> {
  const base = address.replace(/\/$/, '');
  checkAddress('--url', base);
  if (new URL(base).port === '0')
    return complain('port 0 is not a port to connect to: give that of the sandbox');
  const untilMs = stopwatchMs() + waitMs;
  for (;;) {
    const wrong = await notReady(base);
    if (wrong === null || (wrong === NO_STORE && waitMs === 0)) {
      say(wrong === null ? `${base} is ready` : `${base} responds, but ${NO_STORE}`);
      return EXIT_OK;
    }
    if (stopwatchMs() + AGAIN_MS > untilMs) {
      complain(`${base} is not ready: ${wrong}`);
      return EXIT_FAILED;
    }
    await pause(AGAIN_MS);
  }
}

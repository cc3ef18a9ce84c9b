import { get as getOverHttp } from 'node:http';
import { get as getOverHttps } from 'node:https';
import type { Settings } from '../settings.ts';
import { stopwatchMs } from '../platform/system-clock.ts';
import { checkAddress } from './flag-checks.ts';
import { complain, EXIT_FAILED, EXIT_OK, say } from './output.ts';

const PATIENCE_MS = 3000;
const AGAIN_MS = 100;

export function addressOf({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  // a sandbox that listens on every address is reached on that of the loopback
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

const NO_STORE = 'its store is unavailable';

/** Why a sandbox is not ready; null when it is. */
const notReady = (url: string): Promise<string | null> =>
  new Promise((resolve) => {
    const failed = ({ code, name, message }: NodeJS.ErrnoException): void =>
      resolve(name === 'AbortError' ? 'no response' : (code ?? message));
    const get = url.startsWith('https:') ? getOverHttps : getOverHttp;
    get(url, { agent: false, signal: AbortSignal.timeout(PATIENCE_MS) }, (response) => {
      const { statusCode } = response;
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body = (body + text).slice(0, 1000)));
      response.once('error', failed).once('end', () => {
        const isStoreAway = body.includes('"store_unavailable"');
        if (statusCode === 200) return resolve(isStoreAway ? NO_STORE : null);
        resolve(isStoreAway ? 'it has not reached its store yet' : `it returns ${statusCode}`);
      });
    }).once('error', failed);
  });

/**
 * `payout-sandbox health`: asks until the sandbox is ready, for `waitMs` at most. Without a wait, a store that is unavailable is
 * reported, but is no failure once it was reached: the command is the health check of containers, and a restart would not bring it back.
 */
export async function askHealth(address: string, waitMs: number): Promise<number> {
  const base = address.replace(/\/$/, '');
  checkAddress('--url', base);
  if (new URL(base).port === '0')
    return complain('port 0 is not a port to connect to: give that of the sandbox');
  const url = `${base}/_sandbox/health`;
  const untilMs = stopwatchMs() + waitMs;
  for (;;) {
    const wrong = await notReady(url);
    if (wrong === null) {
      say(`${base} is ready`);
      return EXIT_OK;
    }
    if (wrong === NO_STORE && waitMs === 0) {
      say(`${base} responds, but ${NO_STORE}`);
      return EXIT_OK;
    }
    if (stopwatchMs() + AGAIN_MS > untilMs) {
      complain(`${base} is not ready: ${wrong}`);
      return EXIT_FAILED;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

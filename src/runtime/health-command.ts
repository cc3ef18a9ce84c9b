import { get, type IncomingMessage } from 'node:http';
import type { Settings } from '../settings.ts';
import { EXIT_USAGE } from './complaint.ts';

const EXIT_READY = 0;
const EXIT_NOT_READY = 1;
const PATIENCE_MS = 3000;

/** What a sandbox that listens on every address is reached at. */
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function urlOf({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const address = LOOPBACK[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/** The status of the answer, once its body is here. */
const statusOf = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const answered = (response: IncomingMessage): void => {
      response
        .resume()
        .once('end', () => resolve(response.statusCode!))
        .once('error', reject);
    };
    get(url, { agent: false, signal: AbortSignal.timeout(PATIENCE_MS) }, answered).once('error', reject);
  });

/**
 * `payout-sandbox health`: says in one line whether a sandbox is ready.
 *
 * @param at its address, or the settings that it was started with
 * @returns the exit code: 0 when it is ready, 1 when it is not, 2 for an address that is none
 */
export async function askHealth(
  at: string | Pick<Settings, 'host' | 'port'>,
  say: (line: string) => void,
  complain: (message: string) => void,
): Promise<number> {
  if (typeof at === 'object' && at.port === 0) {
    complain('port 0 is no port to ask at: say where it is with --port or --url');
    return EXIT_USAGE;
  }
  const base = typeof at === 'string' ? at.replace(/\/$/, '') : urlOf(at);
  const url = `${base}/_sandbox/health`;
  if (!URL.canParse(url) || !url.startsWith('http://')) {
    complain(`--url must be an address that begins with http://, not ${JSON.stringify(base)}`);
    return EXIT_USAGE;
  }
  try {
    const status = await statusOf(url);
    if (status === 200) {
      say(`${base} is ready`);
      return EXIT_READY;
    }
    complain(`${base} is not ready: it answers ${status}`);
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    complain(`${base} is not ready: ${name === 'AbortError' ? 'no answer comes' : (code ?? message)}`);
  }
  return EXIT_NOT_READY;
}

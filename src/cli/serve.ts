import { startServer } from '../server.ts';
import type { Settings } from '../settings.ts';
import { standardLog } from '../platform/logging.ts';
import { ScenarioError } from '../scenario/scenario-file.ts';
import { StateFileError } from '../platform/state/state-file.ts';
import { systemClock } from '../platform/system-clock.ts';
import { complain, EXIT_OK } from './output.ts';
import { welcome } from './welcome.ts';

type Address = Pick<Settings, 'host' | 'port'>;

const ADDRESS_CALLS: ReadonlySet<string> = new Set(['getaddrinfo', 'bind', 'listen']);

const LISTEN_ERRORS: Readonly<Record<string, (at: string) => string>> = {
  EADDRINUSE: (at) => `${at} is already in use: choose another port with --port (0 picks a free one)`,
  EACCES: (at) => `${at} needs rights that this user does not have: choose a port above 1023`,
  EADDRNOTAVAIL: (at) => `${at} is no address of this machine: choose another with --host`,
  ENOTFOUND: (at) => `${at}: there is no such host`,
};

/** What is wrong with the address, when that is what an error is about. */
function listenComplaint(error: unknown, { host, port }: Address): string | undefined {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (LISTEN_ERRORS[code] !== undefined) return LISTEN_ERRORS[code](at);
  return ADDRESS_CALLS.has(syscall) ? `${at} cannot be listened on: ${code}` : undefined;
}

/** Why a sandbox could not start, if its settings are to blame; null for a fault of the sandbox. */
export function startComplaints(error: unknown, address: Address): readonly string[] | null {
  if (error instanceof ScenarioError) return error.lines;
  if (error instanceof StateFileError) return [error.message];
  const complaint = listenComplaint(error, address);
  return complaint === undefined ? null : [complaint];
}

/** Resolves at the first SIGTERM or SIGINT. More of them change nothing: the end comes within a second. */
const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });

/** Runs the sandbox until a signal ends it, also as process 1 of a container. @returns the exit code */
export async function serve(settings: Settings): Promise<number> {
  if (settings.stateEvery !== 'off' && settings.state === undefined) {
    return complain('--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)');
  }
  try {
    const isTerminal = process.stdout.isTTY;
    const { log, end } = await standardLog(settings, isTerminal);
    const server = await startServer(settings, systemClock(), log);
    const stop = stopSignal(); // before the welcome, since its reader may send a signal
    welcome(server, settings, log, isTerminal);
    log.flush(); // whoever started the program waits for that line
    await stop;
    await server.close();
    log.info('stopped');
    await end();
    return EXIT_OK;
  } catch (error) {
    const complaints = startComplaints(error, settings);
    if (complaints === null) throw error;
    return complain(...complaints);
  }
}

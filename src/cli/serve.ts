import { standardLog } from '../platform/logging.ts';
import type { Settings } from '../settings.ts';
import { complain, EXIT_OK } from './output.ts';
import { startOwnServer } from './own-server.ts';
import { welcome } from './welcome.ts';

const LOOK_MS = 250;

/**
 * Resolves at the first SIGTERM or SIGINT; later ones change nothing, since the sandbox stops within a second. On a terminal, also
 * when that is closed: elsewhere, whoever started it may want it to outlive the terminal. Also when the shell in which npm and npx run a
 * program is gone: it does not pass on the signal that ends it.
 *
 * @param over once it is aborted, signals are not handled any more
 */
const stopSignal = (
  environment: NodeJS.ProcessEnv,
  isTerminal: boolean,
  over: AbortSignal,
): Promise<'SIGHUP' | void> =>
  new Promise((resolve) => {
    const stop = (): void => resolve();
    const hangUp = (): void => resolve('SIGHUP');
    process.on('SIGTERM', stop).on('SIGINT', stop);
    if (isTerminal) process.once('SIGHUP', hangUp);
    over.addEventListener('abort', () => {
      process.off('SIGTERM', stop).off('SIGINT', stop).off('SIGHUP', hangUp);
    });
    if (environment['npm_command'] === undefined) return;
    const { ppid: parent } = process;
    setInterval(() => process.ppid !== parent && resolve(), LOOK_MS).unref();
  });

/** Runs the sandbox until a signal ends it, even as process 1 of a container. */
export async function serve(settings: Settings, environment: NodeJS.ProcessEnv): Promise<number> {
  if (settings.stateEvery !== 'off' && settings.state === undefined) {
    return complain('--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)');
  }
  const isTerminal = process.stdout.isTTY;
  const failed = new AbortController();
  const stop = stopSignal(environment, isTerminal, failed.signal); // before the start, since process 1 ignores signals that nothing handles
  const { log, end } = await standardLog(settings, isTerminal);
  try {
    const started = startOwnServer(settings, log);
    const server = await Promise.race([started, stop.then(() => null)]);
    if (server === null) process.exit(EXIT_OK); // what it restores may take long, and is only read
    welcome(server, settings, log, isTerminal);
    log.flush(); // whoever started the program waits for that line
    await stop;
    await server.close();
    log.info('stopped');
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    await end(); // also after an error: pino would write the rest at the exit, and never return while the disk is full
  }
  const signal = await stop;
  if (signal !== undefined) process.kill(process.pid, signal); // an exit would restore the terminal that is gone, and abort
  return EXIT_OK;
}

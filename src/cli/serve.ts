import { standardLog } from '../platform/logging.ts';
import type { Settings } from '../settings.ts';
import { complain, EXIT_OK } from './output.ts';
import { startOwnServer } from './own-server.ts';
import { hasTerminal } from './stop-signal.ts';
import { welcome } from './welcome.ts';

const LOOK_MS = 250;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Resolves at the first SIGTERM, SIGINT or SIGHUP; later ones change nothing, since the sandbox stops within a second. `nohup` cannot
 * protect it from a SIGHUP, which Node.js would otherwise die of at once. Also when the shell in which npm and npx run a program is
 * gone: it does not pass on the signal that ends it.
 *
 * @param over once it is aborted, signals are not handled any more
 */
const stopSignal = (environment: NodeJS.ProcessEnv, over: AbortSignal): Promise<NodeJS.Signals | null> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, resolve);
    over.addEventListener('abort', () => {
      for (const signal of SIGNALS) process.off(signal, resolve);
    });
    if (environment['npm_command'] === undefined) return;
    const { ppid: parent } = process;
    setInterval(() => process.ppid !== parent && resolve(null), LOOK_MS).unref();
  });

/** Runs the sandbox until a signal ends it, even as process 1 of a container. */
export async function serve(settings: Settings, environment: NodeJS.ProcessEnv): Promise<number> {
  if (settings.stateEvery !== 'off' && settings.state === undefined) {
    return complain('--state-every (SANDBOX_STATE_EVERY) does nothing without --state (SANDBOX_STATE)');
  }
  const isTerminal = process.stdout.isTTY;
  const hadTerminal = hasTerminal(); // cannot be asked once that is gone
  const over = new AbortController();
  const stop = stopSignal(environment, over.signal); // before the start, since process 1 ignores signals that nothing handles
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
    over.abort();
    throw error;
  } finally {
    await end(); // also after an error: pino would write the rest at the exit, and never return while the disk is full
  }
  if ((await stop) === 'SIGHUP' && hadTerminal) {
    over.abort();
    process.kill(process.pid, 'SIGHUP'); // an exit would restore the terminal that is gone, and abort
  }
  return EXIT_OK;
}

import { standardLog } from '../platform/logging.ts';
import type { Settings } from '../settings.ts';
import { complain, EXIT_OK } from './output.ts';
import { startOwnServer } from './own-server.ts';
import { welcome } from './welcome.ts';

const LOOK_MS = 250;

/**
 * Resolves at the first SIGTERM or SIGINT; later ones change nothing, since the sandbox stops within a second. Also when the
 * shell in which npm and npx run a program is gone: it does not pass on the signal that ends it.
 */
const stopSignal = (environment: NodeJS.ProcessEnv): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
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
  const { log, end } = await standardLog(settings, isTerminal);
  const server = await startOwnServer(settings, log);
  const stop = stopSignal(environment); // before the welcome, since its reader may send a signal
  welcome(server, settings, log, isTerminal);
  log.flush(); // whoever started the program waits for that line
  await stop;
  await server.close();
  log.info('stopped');
  await end();
  return EXIT_OK;
}

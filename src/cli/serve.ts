import { once } from 'node:events';
import { standardLog } from '../platform/logging.ts';
import type { Settings } from '../settings.ts';
import { complain, EXIT_OK } from './output.ts';
import { startOwnServer } from './own-server.ts';
import { untilStopped } from './stop-signal.ts';
import { welcome } from './welcome.ts';

const LOOK_MS = 250;

/** Resolves when the shell in which npm and npx run a program is gone: it does not pass on the signal that ends it. */
const shellGone = (environment: NodeJS.ProcessEnv): Promise<void> =>
  new Promise((resolve) => {
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
  return untilStopped(async (signal) => {
    const stop = Promise.race([once(signal, 'abort'), shellGone(environment)]);
    const { log, end } = await standardLog(settings, isTerminal);
    try {
      const server = await Promise.race([startOwnServer(settings, log), stop.then(() => null)]);
      if (server === null) process.exit(EXIT_OK); // what it restores may take long, and is only read
      welcome(server, settings, log, isTerminal);
      log.flush(); // whoever started the program waits for that line
      await stop;
      await server.close();
      log.info('stopped');
    } finally {
      await end(); // also after an error: pino would write the rest at the exit, and never return while the disk is full
    }
    return EXIT_OK;
  });
}

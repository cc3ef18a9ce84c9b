import { isatty } from 'node:tty';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Does work with an abort signal that the first SIGTERM, SIGINT or SIGHUP triggers; later ones change nothing. `nohup` cannot protect
 * from a SIGHUP, which Node.js would otherwise die of at once.
 */
export async function untilStopped<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const hadTerminal = [0, 1, 2].some((stream) => isatty(stream)); // cannot be asked once that is gone
  const abort = (signal: NodeJS.Signals): void => stop.abort(signal);
  for (const signal of SIGNALS) process.on(signal, abort);
  try {
    return await work(stop.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, abort);
    // an exit would restore the terminal that is gone, and abort
    if (stop.signal.reason === 'SIGHUP' && hadTerminal) process.kill(process.pid, 'SIGHUP');
  }
}

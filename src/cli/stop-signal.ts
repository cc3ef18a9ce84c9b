import { isatty } from 'node:tty';

/** Whether it has a terminal. */
export const hasTerminal = (): boolean => [0, 1, 2].some((stream) => isatty(stream));

/** Does work with an abort signal that Ctrl-C, SIGTERM and SIGHUP, as at the end of the terminal, trigger. */
export async function untilStopped<T>(work: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const abort = (): void => stop.abort();
  let isHungUp = false;
  const hangUp = (): void => {
    isHungUp = true;
    abort();
  };
  process.on('SIGINT', abort).on('SIGTERM', abort).on('SIGHUP', hangUp);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', abort).off('SIGTERM', abort).off('SIGHUP', hangUp);
    if (isHungUp) process.kill(process.pid, 'SIGHUP'); // an exit would restore the terminal that is gone, and abort
  }
}

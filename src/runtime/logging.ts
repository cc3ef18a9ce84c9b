import { pino, type DestinationStream, type Logger } from 'pino';
import type { Settings } from '../settings.ts';

/** What the log holds in memory for a reader that does not read; more is dropped. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

interface Log {
  readonly log: Logger;
  /** Writes what is still buffered, at once. */
  readonly flush: () => void;
}

/**
 * The log on standard output: pretty on a terminal, JSON lines elsewhere. Written asynchronously: a line is out
 * at once when little happens, and in larger pieces under load.
 */
export async function standardLog(level: Settings['logLevel'], pretty: boolean): Promise<Log> {
  const options = { level, base: null };
  if (pretty) {
    const { default: prettyStream } = await import('pino-pretty'); // loaded only where it is used
    const stream = prettyStream({
      ignore: 'pid,hostname',
      singleLine: true,
      sync: true,
      colorize: !process.env['NO_COLOR'],
    });
    return { log: pino(options, stream as DestinationStream), flush: () => undefined };
  }
  const destination = pino.destination({ dest: 1, sync: false, maxLength: MAX_BUFFERED_BYTES });
  return { log: pino(options, destination), flush: () => destination.flushSync() };
}

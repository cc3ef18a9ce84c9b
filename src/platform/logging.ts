import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { lineRedaction } from './log-redaction.ts';
import { escapeControls, readableLine } from './readable-line.ts';
import type { Settings } from '../settings.ts';

/** What the log holds in memory for a reader that does not read; more is dropped. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

/** How long the end waits for such a reader. */
const LAST_LINES_MS = 100;

/** For how long lines are gathered after one was written, and how many characters at most. */
const GATHERED_MS = 10;
const GATHERED_LENGTH = 64 * 1024;

interface Log {
  readonly log: Logger;
  /** Resolves when what was still buffered is written, or nobody reads it. Nothing is logged after it. */
  readonly end: () => Promise<void>;
}

/** How every line is written: without secrets, and without characters that move a terminal. */
export const logOptions = ({
  logLevel,
  apiKeys = [],
  adminToken,
}: Pick<Settings, 'logLevel' | 'apiKeys' | 'adminToken'>): LoggerOptions => ({
  level: logLevel,
  base: null,
  formatters: { log: lineRedaction(adminToken === undefined ? apiKeys : [...apiKeys, adminToken]) },
  hooks: { streamWrite: (line) => `${escapeControls(line.trimEnd())}\n` }, // JSON has the same escapes
});

/**
 * Hands lines on to a slower stream: one that comes alone at once, those that follow it closely together. A write costs
 * the stream about as much as the making of a line.
 */
function gathered(stream: DestinationStream): DestinationStream & { readonly flush: () => void } {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines === '') return;
    const written = lines;
    lines = '';
    timer = setTimeout(flush, GATHERED_MS).unref();
    stream.write(written);
  };
  const write = (line: string): void => {
    lines += line;
    if (timer === undefined || lines.length > GATHERED_LENGTH) flush();
  };
  return { write, flush };
}

/**
 * The log on standard output: pretty on a terminal, JSON lines elsewhere. Written asynchronously: a line is out
 * at once when little happens, and within some 10 ms, in larger pieces, under load.
 */
export async function standardLog(settings: Settings, pretty: boolean): Promise<Log> {
  const options = logOptions(settings);
  if (pretty) {
    const { default: prettyStream } = await import('pino-pretty'); // loaded only where it is used
    const stream = prettyStream({
      translateTime: 'HH:MM:ss',
      hideObject: true,
      messageFormat: readableLine,
      sync: true,
      colorize: !process.env['NO_COLOR'],
    });
    return { log: pino(options, stream as DestinationStream), end: () => Promise.resolve() };
  }
  let waitsForReader = true;
  const destination = pino.destination({
    dest: 1,
    sync: false,
    maxLength: MAX_BUFFERED_BYTES,
    retryEAGAIN: () => waitsForReader,
  });
  destination.on('error', () => undefined); // a reader that is gone, a full disk: the sandbox outlives its log
  const end = async (): Promise<void> => {
    log.level = 'silent'; // a connection that is cut at the very end may still want a line
    lines.flush();
    destination.flushSync = () => undefined; // pino's own at exit: it has no end when nobody reads
    await new Promise<void>((resolve) => {
      const nobodyReads = setTimeout(resolve, LAST_LINES_MS);
      const ended = (): void => {
        clearTimeout(nobodyReads);
        resolve();
      };
      destination.once('close', ended).once('error', ended);
      destination.end();
    });
    waitsForReader = false;
  };
  const lines = gathered(destination);
  process.prependOnceListener('exit', lines.flush); // before pino's own, which writes what the destination holds
  const log = pino(options, lines);
  return { log, end };
}

import { inColour, jsonText, visible } from '../actions/text-output.ts';
import { systemReason } from '../contract/usage-error.ts';
import { plain, type Paint } from '../referee/reports/summary.ts';

// Exit codes.

export const EXIT_OK = 0;
/** The command ran, and the result is negative: something was found, refused, or does not exist. */
export const EXIT_FAILED = 1;
/** The command did not run: a flag, a setting, a file, a key or an address cannot be used, or no sandbox responds. */
export const EXIT_USAGE = 2;
/** Ctrl-C ended it: the exit code that a shell reports for that. */
export const EXIT_STOPPED = 130;

/** The exit code of a search for failures. @param areWritten whether all of its reports could be written */
export function searchExitCode(hasFound: boolean, wasStopped: boolean, areWritten: boolean): number {
  if (hasFound) return EXIT_FAILED;
  if (wasStopped) return EXIT_STOPPED;
  return areWritten ? EXIT_OK : EXIT_USAGE;
}

/** Output has colours on a terminal, unless NO_COLOR is set. */
export const paintFor = (environment: NodeJS.ProcessEnv): Paint =>
  process.stdout.isTTY && !environment['NO_COLOR'] ? inColour : plain;

/** Returns to the beginning of the terminal line and clears it. */
export const CLEAR_LINE = '\r\u001B[K';

/** Writes a line to standard output, or several. Whatever is in it does not control the terminal. */
export function say(text: string): void {
  process.stdout.write(visible(text, process.stdout.isTTY));
  process.stdout.write('\n'); // a separate write: if a full disk took only part of the line without an error, this one fails
}

/** Writes JSON to standard output, in which control characters are escaped. */
export const sayJson = (value: unknown): void => say(jsonText(value));

/** Writes one line for each message to standard error. @returns the exit code for wrong usage */
export function complain(...messages: readonly string[]): number {
  for (const message of messages) {
    const line = message
      .replace(/^error: /, '')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    process.stderr.write(`payout-sandbox: ${visible(line)}\n`);
  }
  return EXIT_USAGE;
}

/** Makes the program report lost output and fail. A reader that closes early, such as `head`, is not a failure. */
export function watchOutput(): void {
  let isSaid = false;
  process.stderr.on('error', () => undefined); // there is nowhere left to report it
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isSaid) return;
    isSaid = true;
    const exitCode = complain(`standard output cannot be written (${systemReason(error)})`);
    process.exitCode ||= exitCode;
  });
}

/** A word, quoted for a shell where needed. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

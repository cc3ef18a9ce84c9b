// Exit codes.

export const EXIT_OK = 0;
/** The command did its work, and the answer is no: something was found, refused, or is not there. */
export const EXIT_FAILED = 1;
/** A flag, a setting, a scenario, a file or an address cannot be used. */
const EXIT_USAGE = 2;
/** Ctrl-C ended it, as a shell says of a command. */
export const EXIT_STOPPED = 130;

/** Whether output has colours: on a terminal, unless NO_COLOR is set. */
export const isColoured = (environment: NodeJS.ProcessEnv): boolean =>
  process.stdout.isTTY && !environment['NO_COLOR'];

/** Goes back to the beginning of a line of a terminal, and clears it. */
export const CLEAR_LINE = '\r\u001B[K';

/** Writes a line to standard output. */
export function say(line: string): void {
  process.stdout.write(line);
  process.stdout.write('\n'); // on its own: where a disk took only a part of the line, without an error, this one fails
}

/** Writes one line for each message to standard error. @returns the exit code for what cannot be used */
export function complain(...messages: readonly string[]): number {
  for (const message of messages) {
    const line = message
      .replace(/^error: /, '')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    process.stderr.write(`payout-sandbox: ${line}\n`);
  }
  return EXIT_USAGE;
}

/** Makes a program whose output is lost say so and fail. A reader that has seen enough, such as `head`, is no failure. */
export function watchOutput(): void {
  let isSaid = false;
  process.stderr.on('error', () => undefined); // there is nowhere left to say it
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || isSaid) return;
    isSaid = true;
    const exitCode = complain(`standard output cannot be written (${code})`);
    process.exitCode ||= exitCode;
  });
}

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

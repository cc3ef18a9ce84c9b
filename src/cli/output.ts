export const EXIT_OK = 0;
/** A flag, a setting, a scenario or an address that cannot be used. */
const EXIT_USAGE = 2;

/** Writes a line to standard output. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Writes one line for each message to standard error. @returns the exit code that goes with it */
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

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@%+=:,./{}-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

import { Command, CommanderError } from 'commander';
import { startServer, type Server } from '../server.ts';
import { readSettings, SETTINGS, SettingsError, type Settings } from '../settings.ts';
import { ScenarioError } from './scenario-file.ts';
import { scenarioJsonSchema, validate } from './scenario-commands.ts';
import { standardLog } from './logging.ts';
import { packageVersion } from './package-version.ts';
import { StateFileError } from './state-file.ts';
import { suggestion } from './suggestion.ts';
import { systemClock } from './system-clock.ts';
import { welcome } from './welcome.ts';

const EXIT_OK = 0;
/** A flag, a setting or an address that cannot be used. */
const EXIT_USAGE = 2;

const EXAMPLES = `
Examples:
  $ payout-sandbox                                    every key that begins with sk_test_ is a world of its own
  $ payout-sandbox --port 0 --settlement instant      a free port, payouts that settle at the next request
  $ payout-sandbox --scenario timeout-after-commit    one of the scenarios that come with it
  $ payout-sandbox --scenario ./my.yaml               a scenario of your own
  $ payout-sandbox validate ./scenarios/*.yaml        what is wrong with them, before a test run tells you

Exit codes: 0 stopped by a signal, 1 a scenario file is not valid (validate), 2 a flag, setting, scenario or address
cannot be used.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const COMMANDS = ['validate', 'schema'];

const unknownCommand = (word: string): string =>
  `there is no command ${word}${suggestion(word, COMMANDS)}: without one, the sandbox is served (see --help)`;

/** The commands, each of which leaves its exit code with `ended`. Without a command, the sandbox is served. */
function buildCommand(environment: NodeJS.ProcessEnv, ended: (exitCode: number) => void): Command {
  const command = new Command('payout-sandbox')
    .description('A payout service to test against. Everything stays on this machine.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this')
    .helpCommand(false)
    .enablePositionalOptions()
    .allowExcessArguments(true) // a word that is no command: `action` says so
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Record<string, unknown>) => {
      const [word] = command.args;
      if (word !== undefined) ended(complain(unknownCommand(word)));
      else ended(await serve(readSettings(flags, environment)));
    });
  for (const { flag, value, description, env, defaultText } of SETTINGS) {
    command.option(`${flag} ${value}`, `${description} [${env}; default ${defaultText}]`);
  }
  command
    .command('validate <files...>')
    .description(
      'check scenario files: every error of every file, with its line; exit code 1 if there are any',
    )
    .action((files: string[]) => ended(validate(files, say)));
  command
    .command('schema')
    .description('print the JSON Schema of a scenario file')
    .action(() => {
      process.stdout.write(scenarioJsonSchema());
      ended(EXIT_OK);
    });
  return command;
}

/** One readable line each on standard error. */
function complain(...messages: readonly string[]): number {
  for (const message of messages) {
    const line = message
      .replace(/^error: /, '')
      .trim()
      .replace(/\s*\n\s*/g, ' ');
    process.stderr.write(`payout-sandbox: ${line}\n`);
  }
  return EXIT_USAGE;
}

const ADDRESS_CALLS: ReadonlySet<string> = new Set(['getaddrinfo', 'bind', 'listen']);

const LISTEN_ERRORS: Readonly<Record<string, (at: string) => string>> = {
  EADDRINUSE: (at) => `${at} is already in use: choose another port with --port (0 picks a free one)`,
  EACCES: (at) => `${at} needs rights that this user does not have: choose a port above 1023`,
  EADDRNOTAVAIL: (at) => `${at} is no address of this machine: choose another with --host`,
  ENOTFOUND: (at) => `${at}: there is no such host`,
};

/** What is wrong with the address, when that is what an error is about. */
function listenComplaint(error: unknown, { host, port }: Settings): string | undefined {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  const at = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (LISTEN_ERRORS[code] !== undefined) return LISTEN_ERRORS[code](at);
  return ADDRESS_CALLS.has(syscall) ? `${at} cannot be listened on: ${code}` : undefined;
}

/** Resolves at the first SIGTERM or SIGINT. More of them change nothing: the end comes within a second. */
const stopSignal = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => resolve());
  });

async function serve(settings: Settings): Promise<number> {
  const isTerminal = process.stdout.isTTY;
  const { log, end } = await standardLog(settings.logLevel, isTerminal);
  let server: Server;
  try {
    server = await startServer(settings, systemClock(), log);
  } catch (error) {
    const complaint = listenComplaint(error, settings);
    if (complaint === undefined) throw error;
    return complain(complaint);
  }
  const stop = stopSignal(); // before the welcome: whoever has read it may send a signal
  welcome(server, settings, log, isTerminal);
  await stop;
  await server.close();
  log.info('stopped');
  await end();
  return EXIT_OK;
}

/**
 * The command `payout-sandbox`.
 *
 * @param args what stands after the command's name
 * @returns the exit code: 0 when it was stopped by a signal, 1 for a scenario file that is not valid, 2 for a wrong flag,
 *   setting, scenario or address
 */
export async function commandLine(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  process.stdout.on('error', () => undefined); // a reader that has seen enough, as `head`
  const command = buildCommand(environment, (code) => (exitCode = code));
  try {
    await command.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT_OK;
      const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
      return complain(`${message} (see --help)`);
    }
    if (error instanceof SettingsError || error instanceof StateFileError) return complain(error.message);
    if (error instanceof ScenarioError) return complain(...error.lines);
    throw error;
  }
}

import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package-files.ts';
import { SettingsError } from '../settings.ts';
import {
  ALL_SETTINGS,
  CommandBuilder,
  namesOf,
  noSuchCommand,
  takeSettings,
  type Flags,
} from './commands/command-builder.ts';
import { addDocumentCommands } from './commands/document-commands.ts';
import { addScenarioCommands } from './commands/scenario-commands.ts';
import { addServerCommands, serveSandbox } from './commands/server-commands.ts';
import { addTestCommands } from './commands/test-commands.ts';
import { EXAMPLES } from './commands/help-texts.ts';
import { addWorldCommands } from './commands/world-commands.ts';
import { complain, EXIT_OK } from './output.ts';

/** A word that is no command, but a scenario to serve. */
const SCENARIO_FILE = /\.(?:ya?ml|json)$/i;

/** Refuses a flag of `serve` before a command that does not have it. @throws SettingsError */
function refuseIgnoredFlags(root: Command, command: Command): void {
  if (command === root) return;
  const known = new Set(command.options.map(({ long }) => long));
  const ignored = root.options.find(
    (option) => root.getOptionValueSource(option.attributeName()) === 'cli' && !known.has(option.long),
  );
  if (ignored !== undefined) throw new SettingsError(`${command.name()} has no flag ${ignored.long}`);
}

/** `payout-sandbox help COMMAND`. @returns the exit code */
function showHelp(words: readonly string[], root: Command): number {
  let command = root;
  for (const word of words) {
    const next = command.commands.find((known) => namesOf(known).includes(word));
    if (next === undefined) return complain(noSuchCommand(command, word));
    command = next;
  }
  command.outputHelp();
  return EXIT_OK;
}

/**
 * All commands. Without a command, the sandbox is served.
 *
 * @param ended called by a command that has an exit code of its own
 */
export function buildProgram(
  environment: NodeJS.ProcessEnv,
  ended: (exitCode: number) => void = () => undefined,
): Command {
  const root = new Command('payout-sandbox')
    .description('A payout service to test against. Everything stays on this machine.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this; with a command, what it takes')
    .helpCommand(false)
    .enablePositionalOptions()
    .allowExcessArguments(true) // a word that is no command: `action` says so
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', EXAMPLES);
  const builder = new CommandBuilder(root, environment, ended);
  takeSettings(root, ALL_SETTINGS).action(async (flags: Flags) => {
    const [word, extra] = root.args;
    if (word === undefined) return serveSandbox(builder, flags);
    if (!SCENARIO_FILE.test(word)) return ended(complain(noSuchCommand(root, word)));
    if (extra !== undefined || flags['scenario'] !== undefined) {
      return ended(complain(`${word} is the scenario to serve: ${extra ?? '--scenario'} is one too many`));
    }
    return serveSandbox(builder, { ...flags, scenario: word });
  });
  root.hook('preAction', (_root, command) => refuseIgnoredFlags(root, command));
  addServerCommands(builder);
  addWorldCommands(builder);
  addScenarioCommands(builder);
  addTestCommands(builder);
  addDocumentCommands(builder);
  return root;
}

/** Parses the command line and does what it says. @returns the exit code */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const program = buildProgram(environment, (code) => (exitCode = code));
  try {
    const [word, ...rest] = args;
    if (word === 'help') return showHelp(rest, program);
    await program.parseAsync(word === '-V' ? ['--version'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT_OK;
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    return complain(`${message} (see --help)`);
  }
}

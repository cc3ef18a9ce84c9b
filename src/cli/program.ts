import { Command, CommanderError } from 'commander';
import { suggestion } from '../contract/suggestion.ts';
import { packageVersion } from '../package-files.ts';
import { SettingsError } from '../settings.ts';
import { ALL_SETTINGS, CommandBuilder, takeSettings, type Flags } from './commands/command-builder.ts';
import { addScenarioCommands } from './commands/scenario-commands.ts';
import { addServerCommands, serveSandbox } from './commands/server-commands.ts';
import { addSetupCommands } from './commands/setup-commands.ts';
import { addTestCommands } from './commands/test-commands.ts';
import { addWorldCommands } from './commands/world-commands.ts';
import { EXAMPLES } from './help-texts.ts';
import { complain, EXIT_OK } from './output.ts';

/** A word that is no command, but a scenario to serve. */
const SCENARIO_FILE = /\.(?:ya?ml|json)$/i;

/** How a command may be called. */
const namesOf = (command: Command): readonly string[] => [command.name(), ...command.aliases()];

const noCommand = (word: string, { commands }: Command): string =>
  `there is no command ${word}${suggestion(word, commands.flatMap(namesOf))}: without one, the sandbox is served (see --help)`;

/** Refuses a flag of `serve` before a command that does not have it. @throws SettingsError */
function refuseIgnoredFlags(root: Command, command: Command): void {
  if (command === root) return;
  const known = new Set(command.options.map(({ long }) => long));
  const ignored = root.options.find(
    (option) => root.getOptionValueSource(option.attributeName()) === 'cli' && !known.has(option.long),
  );
  if (ignored !== undefined) throw new SettingsError(`${command.name()} has no flag ${ignored.long}`);
}

/** The command that `help` is asked for; a word that is none otherwise. */
function helpFor(words: readonly string[], root: Command): Command | string {
  let command = root;
  for (const word of words) {
    const next = command.commands.find((known) => namesOf(known).includes(word));
    if (next === undefined) return word;
    command = next;
  }
  return command;
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
    if (!SCENARIO_FILE.test(word)) return ended(complain(noCommand(word, root)));
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
  addSetupCommands(builder);
  return root;
}

/** Parses the command line and does what it says. @returns the exit code */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const program = buildProgram(environment, (code) => (exitCode = code));
  try {
    const [word, ...rest] = args;
    if (word === 'help') {
      const asked = helpFor(rest, program);
      if (typeof asked === 'string') return complain(noCommand(asked, program));
      asked.outputHelp();
      return EXIT_OK;
    }
    await program.parseAsync(word === '-V' ? ['--version'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT_OK;
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    return complain(`${message} (see --help)`);
  }
}

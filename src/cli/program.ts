import { Command, CommanderError } from 'commander';
import { suggestion } from '../contract/suggestion.ts';
import { packageVersion } from '../package-files.ts';
import { ALL_SETTINGS, CommandBuilder, takeSettings, type Flags } from './commands/command-builder.ts';
import { addScenarioCommands } from './commands/scenario-commands.ts';
import { addServerCommands, serveSandbox } from './commands/server-commands.ts';
import { addTestCommands } from './commands/test-commands.ts';
import { addWorldCommands } from './commands/world-commands.ts';
import { EXAMPLES } from './help-texts.ts';
import { complain, EXIT_OK } from './output.ts';

/**
 * All commands. Without a command, the sandbox is served.
 *
 * @param ended called by a command that has an exit code of its own
 */
function buildProgram(environment: NodeJS.ProcessEnv, ended: (exitCode: number) => void): Command {
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
    const [word] = root.args;
    if (word === undefined) return serveSandbox(builder, flags);
    const names = root.commands.map((known) => known.name());
    ended(
      complain(
        `there is no command ${word}${suggestion(word, names)}: without one, the sandbox is served (see --help)`,
      ),
    );
  });
  addServerCommands(builder);
  addWorldCommands(builder);
  addScenarioCommands(builder);
  addTestCommands(builder);
  return root;
}

/** Parses the command line and does what it says. @returns the exit code */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const program = buildProgram(environment, (code) => (exitCode = code));
  try {
    const [word, ...rest] = args;
    await program.parseAsync(word === 'help' ? [...rest, '--help'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT_OK;
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    return complain(`${message} (see --help)`);
  }
}

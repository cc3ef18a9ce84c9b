import { Command, CommanderError } from 'commander';
import { packageVersion } from '../package-files.ts';
import { removedText } from '../removed.ts';
import { CommandBuilder, isScenarioFile, noSuchCommand } from './commands/command-builder.ts';
import { addScenarioCommands, addServerCommands, EXIT_CODES } from './commands/server-commands.ts';
import { addTestCommands } from './commands/test-commands.ts';
import { addActionCommands, complainOf } from './commands/action-commands.ts';
import { complain, EXIT_OK } from './output.ts';

const ROOT_TEXT = `
--help --all lists every command, and COMMAND --help its flags.

Examples:
  $ payout-sandbox                                    serve; serve --help lists the settings
  $ payout-sandbox pay 1500.50 --mode NEFT            pay by hand, in the world of sk_test_demo or of --key
  $ payout-sandbox advance 2h                         apply everything that is due by then
  $ payout-sandbox use timeout-after-commit           change how this world behaves; undo takes it back
  $ payout-sandbox referee --env PAYOUT_URL={url} --env PAYOUT_KEY={key} -- npm test    judge a client
${EXIT_CODES}`;

/**
 * All commands.
 *
 * @param ended called by a command that has an exit code of its own
 * @param showsAll whether `--help` lists all of them
 */
export function buildProgram(
  environment: NodeJS.ProcessEnv,
  ended: (exitCode: number) => void = () => undefined,
  showsAll = false,
): Command {
  const subcommandTerm = (command: Command): string =>
    `${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trim();
  const root = new Command('payout-sandbox')
    .description('A local payout service, for testing payout clients.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .configureHelp({ subcommandTerm })
    .addHelpText('after', ROOT_TEXT);
  const builder = new CommandBuilder(root, environment, ended, showsAll);
  addServerCommands(builder);
  addActionCommands(builder);
  addScenarioCommands(builder);
  addTestCommands(builder);
  return root.configureHelp({ subcommandTerm, visibleOptions: () => [] }); // of its own help alone: COMMAND --help has them
}

export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const program = buildProgram(environment, (code) => (exitCode = code), args.includes('--all'));
  const [word = '', ...rest] = args;
  const shorthands: Readonly<Record<string, readonly string[]>> = {
    help: [...rest, '--help'],
    '-V': ['--version'],
  };
  try {
    await program.parseAsync(shorthands[word] ?? args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return complainOf(error);
    if (error.exitCode === 0) return EXIT_OK;
    const isCommand = program.commands.some((command) => command.name() === word);
    const isOther = word === '' || word.startsWith('-') || isScenarioFile(word);
    if (!isCommand && !isOther) return complain(noSuchCommand(program, word)); // so its flags are unknown, too
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    const flag = /unknown option '(--[^']*)'/.exec(message)?.[1] ?? '';
    return complain(removedText(flag, `${word} ${flag}`, `${word} ${rest[0]}`) ?? `${message} (see --help)`);
  }
}

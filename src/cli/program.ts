import { Command, CommanderError, Help } from 'commander';
import { packageVersion } from '../package-files.ts';
import { removedText } from '../removed.ts';
import { SettingsError } from '../settings.ts';
import {
  ALL_SETTINGS,
  CommandBuilder,
  noSuchCommand,
  takeSettings,
  type Flags,
} from './commands/command-builder.ts';
import { addScenarioCommands } from './commands/scenario-commands.ts';
import { addServerCommands, serveSandbox } from './commands/server-commands.ts';
import { addTestCommands } from './commands/test-commands.ts';
import { FIRST_COMMANDS, ROOT_TEXT } from './commands/help-texts.ts';
import { addActionCommands } from './commands/action-commands.ts';
import { complain, EXIT_OK } from './output.ts';
import { complainOf } from './running-sandbox/terminal-actor.ts';

/** A word that is not a command but the file of a scenario to serve. */
const SCENARIO_FILE = /\.(?:ya?ml|json)$/i;

/** Refuses a flag of `serve` that stands before a command without that flag. */
function refuseIgnoredFlags(root: Command, command: Command): void {
  if (command === root) return;
  const known = new Set(command.options.map(({ long }) => long));
  const ignored = root.options.find(
    (option) => root.getOptionValueSource(option.attributeName()) === 'cli' && !known.has(option.long),
  );
  if (ignored !== undefined) throw new SettingsError(`${command.name()} has no flag ${ignored.long}`);
}

function showHelp(words: readonly string[], root: Command): number {
  let command = root;
  for (const word of words) {
    const next = command.commands.find((known) => known.name() === word);
    if (next === undefined) return complain(noSuchCommand(command, word));
    command = next;
  }
  command.outputHelp();
  return EXIT_OK;
}

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
  const root = new Command('payout-sandbox')
    .description('A local payout service, for testing payout clients.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help, or that of a command')
    .helpCommand(false)
    .enablePositionalOptions()
    .allowExcessArguments(true) // `action` reports a word that is not a command
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const short: Partial<Help> = {
    visibleOptions: () => [], // `serve --help` has them
    visibleCommands: () => root.commands.filter((command) => showsAll || FIRST_COMMANDS.has(command.name())),
  };
  root
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/\[options\] ?/, '')}`.trim(),
      formatHelp(command, helper) {
        const shown = command === root ? Object.assign(Object.create(helper) as Help, short) : helper;
        return Help.prototype.formatHelp.call(shown, command, shown);
      },
    })
    .addHelpText('after', ROOT_TEXT);
  const builder = new CommandBuilder(root, environment, ended);
  takeSettings(root, ALL_SETTINGS).action(async (flags: Flags) => {
    const [word, extra] = root.args;
    if (word === undefined) return serveSandbox(builder, flags);
    if (!SCENARIO_FILE.test(word)) return ended(complain(noSuchCommand(root, word)));
    if (extra !== undefined || flags['scenario'] !== undefined) {
      return ended(
        complain(`only one scenario can be served, not both ${word} and ${extra ?? '--scenario'}`),
      );
    }
    return serveSandbox(builder, { ...flags, scenario: word });
  });
  root.hook('preAction', (_root, command) => refuseIgnoredFlags(root, command));
  addServerCommands(builder);
  addActionCommands(builder);
  addScenarioCommands(builder);
  addTestCommands(builder);
  return root;
}

export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const program = buildProgram(environment, (code) => (exitCode = code), args.includes('--all'));
  const [word = '', ...rest] = args;
  try {
    if (word === 'help')
      return showHelp(
        rest.filter((name) => name !== '--all'),
        program,
      );
    await program.parseAsync(word === '-V' ? ['--version'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return complainOf(error);
    if (error.exitCode === 0) return EXIT_OK;
    const isCommand = program.commands.some((command) => command.name() === word);
    const isOther = word === '' || word.startsWith('-') || SCENARIO_FILE.test(word);
    if (!isCommand && !isOther) return complain(noSuchCommand(program, word)); // so its flags are unknown, too
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    const flag = /unknown option '(--[^']*)'/.exec(message)?.[1] ?? '';
    return complain(removedText(flag, `${word} ${flag}`, `${word} ${rest[0]}`) ?? `${message} (see --help)`);
  }
}

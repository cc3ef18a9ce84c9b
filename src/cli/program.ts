import { Command, CommanderError } from 'commander';
import { durationMs } from '../contract/duration.ts';
import { readSettings, SETTINGS, type SettingName } from '../settings.ts';
import { complain, EXIT_OK, say } from './output.ts';
import { packageVersion } from '../package-files.ts';
import { suggestion } from '../contract/suggestion.ts';

const SERVE_EXAMPLES = `
Examples:
  $ payout-sandbox                                    every key that begins with sk_test_ is a world of its own
  $ payout-sandbox --port 0 --settlement instant      a free port, payouts that settle at the next request
  $ payout-sandbox --scenario timeout-after-commit    one of the scenarios that come with it
  $ payout-sandbox --scenario ./my.yaml               a scenario of your own`;

const EXIT_CODES = `
Exit codes: 0 stopped by a signal, or done; 1 a scenario file is not valid (validate), or nothing is ready there
(health); 2 a flag, setting, scenario or address cannot be used.`;

const EXAMPLES = `${SERVE_EXAMPLES}
  $ payout-sandbox scenarios                          what there is to choose from
  $ payout-sandbox validate ./scenarios/*.yaml        check scenario files before a test run
  $ payout-sandbox health --wait 30s && npm test      as soon as it is ready
${EXIT_CODES}`;

type Flags = Readonly<Record<string, unknown>>;

/** Gives a command the flags of these settings. */
function takeSettings(command: Command, isTaken: (name: SettingName) => boolean): Command {
  for (const { name, flag, value, description, env, defaultText } of SETTINGS) {
    if (isTaken(name)) command.option(`${flag} ${value}`, `${description} [${env}; default ${defaultText}]`);
  }
  return command;
}

/** The commands, each of which leaves its exit code with `ended`. Without a command, the sandbox is served. */
function buildCommand(environment: NodeJS.ProcessEnv, ended: (exitCode: number) => void): Command {
  /** Flags may stand before a command as well as behind it. */
  const settingsOf = (flags: Flags) => readSettings({ ...root.opts<Flags>(), ...flags }, environment);
  const serve = async (flags: Flags): Promise<void> => {
    const settings = settingsOf(flags);
    const program = await import('./serve.ts'); // only what a command needs is loaded
    ended(await program.serve(settings));
  };

  const root = new Command('payout-sandbox')
    .description('A payout service to test against. Everything stays on this machine.')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('--help', 'print this; with a command, what it takes')
    .helpCommand(false)
    .enablePositionalOptions()
    .allowExcessArguments(true) // a word that is no command: `action` says so
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => {
      const [word] = root.args;
      if (word !== undefined) ended(complain(unknownCommand(word)));
      else await serve(flags);
    });
  const unknownCommand = (word: string): string => {
    const known = root.commands.map((command) => command.name());
    return `there is no command ${word}${suggestion(word, known)}: without one, the sandbox is served (see --help)`;
  };
  takeSettings(root, () => true);

  takeSettings(root.command('serve'), () => true)
    .description('serve the sandbox until a signal stops it, as without a command')
    .allowExcessArguments(false)
    .addHelpText('after', `${SERVE_EXAMPLES}\n${EXIT_CODES}`)
    .action(serve);
  root
    .command('validate <files...>')
    .description(
      'check scenario files: every error of every file, with its line; exit code 1 if there are any',
    )
    .action(async (files: string[]) => {
      const { validate } = await import('./validate.ts');
      ended(validate(files, say));
    });
  takeSettings(root.command('scenarios'), (name) => name === 'scenarios')
    .description('list the scenarios by name, with what each is for')
    .allowExcessArguments(false)
    .action(async (flags: Flags) => {
      const { listScenarios } = await import('./scenarios.ts');
      ended(listScenarios(settingsOf(flags), environment));
    });
  root
    .command('schema')
    .description('print the JSON Schema of a scenario file')
    .allowExcessArguments(false)
    .action(async () => {
      const { scenarioJsonSchema } = await import('./schema.ts');
      process.stdout.write(scenarioJsonSchema());
      ended(EXIT_OK);
    });
  root
    .command('openapi')
    .description('print the OpenAPI document of the service and of the control API')
    .allowExcessArguments(false)
    .action(async () => {
      const { openapiJson } = await import('./openapi.ts');
      process.stdout.write(await openapiJson());
      ended(EXIT_OK);
    });
  takeSettings(root.command('health'), (name) => name === 'host' || name === 'port')
    .description('ask whether a sandbox is ready: exit code 0 if it is, 1 if not')
    .option('--url <url>', 'where it is [default: at HOST and PORT of this machine]')
    .option('--wait <time>', 'ask again for so long while it is not ready, such as 30s [default: ask once]')
    .allowExcessArguments(false)
    .action(
      async ({ url, wait = '0s', ...flags }: Flags & { readonly url?: string; readonly wait?: string }) => {
        const waitMs = durationMs(wait);
        if (waitMs === undefined)
          return ended(complain(`--wait must be a duration such as 30s, not ${wait}`));
        const { askHealth } = await import('./health.ts');
        ended(await askHealth(url === undefined ? settingsOf(flags) : url, waitMs));
      },
    );
  return root;
}

/** Parses the command line and does what it says. @returns the exit code */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const command = buildCommand(environment, (code) => (exitCode = code));
  try {
    await command.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT_OK;
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    return complain(`${message} (see --help)`);
  }
}

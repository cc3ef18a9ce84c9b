import { durationMs } from '../../contract/times.ts';
import { readSettings } from '../../settings.ts';
import { complain, say } from '../output.ts';
import {
  ALL_SETTINGS,
  isScenarioFile,
  noSuchCommand,
  type CommandBuilder,
  type Flags,
} from './command-builder.ts';

export const EXIT_CODES = `
Exit codes:
  0  done, or stopped by a signal
  1  done, with a negative result: a payout or a change is refused, a scenario has errors, a client misbehaved
  2  not done: a flag, setting, file, key or address cannot be used, or no sandbox responds`;

const SERVE_EXAMPLES = `
Examples:
  $ payout-sandbox                                    every key that begins with sk_test_ is a world of its own
  $ payout-sandbox --port 0 --settlement instant      a free port, payouts that settle at the next request
  $ payout-sandbox --scenario timeout-after-commit    one of the built-in scenarios
  $ payout-sandbox my.yaml                            a scenario of your own
${EXIT_CODES}`;

export function addServerCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('The sandbox:');
  builder
    .command('serve [file]', 'serve the sandbox until a signal stops it', ALL_SETTINGS)
    .option('--verbose', 'also print the key, the scenario, an example and, on a terminal, the admin token')
    .addHelpText('after', SERVE_EXAMPLES)
    .action(async (file: string | undefined, { verbose, ...flags }: Flags) => {
      if (file !== undefined && !isScenarioFile(file))
        return builder.ended(complain(noSuchCommand(builder.root, file)));
      if (file !== undefined && flags['scenario'] !== undefined)
        return builder.ended(complain(`only one scenario can be served, not both ${file} and --scenario`));
      const { scenario = file } = flags;
      const settings = readSettings({ ...flags, scenario }, builder.environment, true);
      const { serve } = await import('../serve.ts');
      builder.ended(await serve(settings, builder.environment, verbose === true));
    });
  builder
    .command('health', 'check whether a sandbox is ready; exits with 0 or 1', ['host', 'port'])
    .option('--url <url>', 'its address [default: SANDBOX_HOST and SANDBOX_PORT on this machine]')
    .option(
      '--wait <time>',
      'wait up to this long for it and its store to be ready, such as 30s [default: check once]',
    )
    .action(
      async ({ url, wait = '0s', ...flags }: Flags & { readonly url?: string; readonly wait?: string }) => {
        const waitMs = durationMs(wait);
        if (waitMs === undefined) {
          return builder.ended(complain(`--wait must be a duration such as 30s, not ${wait}`));
        }
        const unused = ['host', 'port'].find((name) => flags[name] !== undefined);
        if (url !== undefined && unused !== undefined) {
          return builder.ended(complain(`--${unused} does nothing with --url`));
        }
        const { addressOf, askHealth } = await import('../health.ts');
        builder.ended(await askHealth(url ?? addressOf(readSettings(flags, builder.environment)), waitMs));
      },
    );
}

export function addScenarioCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('Scenarios and documents:');
  builder
    .command(
      'validate <files...>',
      'check scenario files; lists every error with its line\n\nWarnings name likely mistakes. Exit code 1 for errors, 2 for a file that cannot be read.',
    )
    .option('--json', 'print the problems and warnings of each file as JSON')
    .action(async (files: string[], { json }: Flags) => {
      const { validate } = await import('../scenario-files.ts');
      builder.ended(validate(files, say, (line) => void complain(line), json === true));
    });
  builder
    .command('scenarios', 'list the scenarios that serve can use', ['scenarios'])
    .option('--json', 'print the list as JSON')
    .action(async ({ json, ...flags }: Flags) => {
      const { listScenarios } = await import('../scenario-files.ts');
      listScenarios(readSettings(flags, builder.environment), builder.environment, json === true);
    });
}

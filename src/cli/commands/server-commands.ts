import { durationMs } from '../../contract/duration.ts';
import { readSettings } from '../../settings.ts';
import { SERVE_EXAMPLES } from './help-texts.ts';
import { complain } from '../output.ts';
import {
  ALL_SETTINGS,
  isScenarioFile,
  noSuchCommand,
  type CommandBuilder,
  type Flags,
} from './command-builder.ts';

export function addServerCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('The sandbox:');
  builder
    .command('serve [file]', 'serve the sandbox until a signal stops it', ALL_SETTINGS)
    .addHelpText('after', SERVE_EXAMPLES)
    .action(async (file: string | undefined, flags: Flags) => {
      if (file !== undefined && !isScenarioFile(file))
        return builder.ended(complain(noSuchCommand(builder.root, file)));
      if (file !== undefined && flags['scenario'] !== undefined)
        return builder.ended(complain(`only one scenario can be served, not both ${file} and --scenario`));
      const { scenario = file } = flags;
      const settings = readSettings({ ...flags, scenario }, builder.environment);
      const { serve } = await import('../serve.ts');
      builder.ended(await serve(settings, builder.environment));
    });
  builder
    .command('health', 'check whether a sandbox is ready: exit code 0 or 1', ['host', 'port'])
    .option('--url <url>', 'its address [default: HOST and PORT on this machine]')
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

import { durationMs } from '../../contract/duration.ts';
import { SERVE_EXAMPLES } from './help-texts.ts';
import { complain } from '../output.ts';
import { ALL_SETTINGS, type CommandBuilder, type Flags } from './command-builder.ts';

export async function serveSandbox(builder: CommandBuilder, flags: Flags): Promise<void> {
  const settings = builder.settingsOf(flags);
  const { serve } = await import('../serve.ts');
  builder.ended(await serve(settings, builder.environment));
}

export function addServerCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('The sandbox:');
  builder
    .command('serve', 'serve the sandbox until a signal stops it', ALL_SETTINGS)
    .addHelpText('after', SERVE_EXAMPLES)
    .action((flags: Flags) => serveSandbox(builder, flags));
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
        builder.ended(await askHealth(url ?? addressOf(builder.settingsOf(flags)), waitMs));
      },
    );
}

import { Option } from 'commander';
import { SettingsError } from '../../settings.ts';
import { complain, EXIT_OK, say } from '../output.ts';
import type { ProbeFlags } from '../probe-command.ts';
import type { CommandBuilder, Flags } from './command-builder.ts';

export function addScenarioCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('Scenarios and dialects:');
  builder
    .command(
      'validate <files...>',
      'check scenario files: every error, with its line\n\nWarnings name what can never have an effect. Exit code 1 for errors, 2 for a file that cannot be read.',
      ['clock', 'seed'],
    )
    .option(
      '--explain <request>',
      'say which outcome and rule the request in this JSON file would match, and why the others would not',
    )
    .option('--json', 'print the problems and warnings of each file as JSON')
    .action(
      async (
        files: string[],
        { explain: request, json, ...flags }: Flags & { readonly explain?: string },
      ) => {
        const { explain, validate } = await import('../scenario-files/validate.ts');
        const unused = ['clock', 'seed'].find((name) => flags[name] !== undefined);
        if (request === undefined && unused !== undefined) {
          throw new SettingsError(`--${unused} does nothing without --explain`);
        }
        if (request !== undefined && json) throw new SettingsError('--json does nothing with --explain');
        const exitCode = validate(files, say, (line) => void complain(line), json === true);
        if (request === undefined || exitCode !== EXIT_OK) return builder.ended(exitCode);
        if (files.length > 1) throw new SettingsError('--explain takes one scenario file');
        builder.ended(explain(files[0]!, request, builder.settingsOf(flags), say));
      },
    );
  builder
    .command('scenarios', 'list the scenarios that serve can use', ['scenarios'])
    .option('--json', 'print the list as JSON')
    .action(async ({ json, ...flags }: Flags) => {
      const { listScenarios } = await import('../scenario-files/scenarios.ts');
      listScenarios(builder.settingsOf(flags), builder.environment, json === true);
    });
  builder
    .command(
      'probe <url>',
      'find out the dialect of a service, for serve --dialect\n\nOnly --level pay is meant to move money: at most ₹6.',
    )
    .addOption(
      new Option(
        '--level <level>',
        'read: 3 GETs; refused: also 6 POSTs above the balance; pay: also up to ₹6',
      )
        .choices(['read', 'refused', 'pay'])
        .default('read'),
    )
    .option('--key-env <name>', 'the variable that has the API key')
    .option('--write <file>', 'where to write the dialect [default: standard output]')
    .option('--dry-run', 'show every request that it would send, without sending any')
    .option('--yes', 'do not ask before level pay')
    .option('--name <name>', 'the beneficiary', 'Probe')
    .option('--account <number>', 'the account that gets the payouts of level pay')
    .option('--ifsc <code>', 'the IFSC of that account')
    .option('--upi <id>', 'a UPI ID of the same person', 'probe@upi')
    .action(async (url: string, flags: ProbeFlags) => {
      const { probeCommand } = await import('../probe-command.ts');
      builder.ended(await probeCommand(url, flags, builder.environment));
    });
}

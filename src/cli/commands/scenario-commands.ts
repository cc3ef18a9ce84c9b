import { SettingsError } from '../../settings.ts';
import { complain, EXIT_OK, say } from '../output.ts';
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
}

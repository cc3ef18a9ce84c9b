import { readSettings } from '../../settings.ts';
import { complain, say } from '../output.ts';
import type { CommandBuilder, Flags } from './command-builder.ts';

export function addScenarioCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('Scenarios and documents:');
  builder
    .command(
      'validate <files...>',
      'check scenario files: every error, with its line\n\nWarnings name what can never have an effect. Exit code 1 for errors, 2 for a file that cannot be read.',
    )
    .option('--json', 'print the problems and warnings of each file as JSON')
    .action(async (files: string[], { json }: Flags) => {
      const { validate } = await import('../scenario-files/validate.ts');
      builder.ended(validate(files, say, (line) => void complain(line), json === true));
    });
  builder
    .command('scenarios', 'list the scenarios that serve can use', ['scenarios'])
    .option('--json', 'print the list as JSON')
    .action(async ({ json, ...flags }: Flags) => {
      const { listScenarios } = await import('../scenario-files/scenarios.ts');
      listScenarios(readSettings(flags, builder.environment), builder.environment, json === true);
    });
  builder.command('schema', 'print the JSON Schema of a scenario file').action(async () => {
    const { scenarioSchema } = await import('../printed-documents.ts');
    say(scenarioSchema());
  });
  builder.command('openapi', 'print the OpenAPI document of all routes').action(async () => {
    const { openapiDocument } = await import('../printed-documents.ts');
    say(await openapiDocument());
  });
}

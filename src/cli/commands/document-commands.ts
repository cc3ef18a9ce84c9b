import { say } from '../output.ts';
import type { CommandBuilder, Flags } from './command-builder.ts';

/** The commands that print a document about the sandbox. */
export function addDocumentCommands(builder: CommandBuilder): void {
  builder.group('Documents:');
  builder.command('schema', 'print the JSON Schema of a scenario file').action(async () => {
    const { scenarioSchema } = await import('../documents/printed-documents.ts');
    say(scenarioSchema());
  });
  builder
    .command('openapi', 'print the OpenAPI document of the service and of the control API')
    .action(async () => {
      const { openapiDocument } = await import('../documents/printed-documents.ts');
      say(await openapiDocument());
    });
  builder
    .command('completion <shell>', 'print a script that completes commands in bash, zsh or fish', [
      'scenarios',
    ])
    .action(async (shell: string, flags: Flags) => {
      const { completionScript } = await import('../documents/shell-completion.ts');
      const { libraryFor } = await import('../scenario-files/scenarios.ts');
      say(completionScript(shell, builder.root, libraryFor(builder.settingsOf(flags)).names));
    });
}

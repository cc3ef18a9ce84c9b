import { Argument } from 'commander';
import { say } from '../output.ts';
import type { CommandBuilder } from './command-builder.ts';

export function addDocumentCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('Documents:');
  builder.command('schema', 'print the JSON Schema of a scenario file').action(async () => {
    const { scenarioSchema } = await import('../documents/printed-documents.ts');
    say(scenarioSchema());
  });
  builder.command('openapi', 'print the OpenAPI document of all routes').action(async () => {
    const { openapiDocument } = await import('../documents/printed-documents.ts');
    say(await openapiDocument());
  });
  builder
    .command('completion', 'print a script that completes commands: bash, zsh, fish')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .argument('[words...]')
    .usage('<shell>')
    .action(async (shell: string, words: readonly string[]) => {
      const { completions, COMPLETION_SCRIPTS } = await import('../documents/shell-completion.ts');
      const { libraryFor } = await import('../scenario-files/scenarios.ts');
      if (words.length === 0) return say(COMPLETION_SCRIPTS[shell]!);
      const { names } = libraryFor(builder.settingsOf({})); // asked by the script, while somebody types
      completions(builder.root, words, names).forEach(say);
    });
}

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
}

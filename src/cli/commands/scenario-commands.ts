import { complain, EXIT_OK, say } from '../output.ts';
import type { RuleFromFlags } from '../scenario-files/rule-from.ts';
import type { CommandBuilder, Flags } from './command-builder.ts';

/** The commands about scenario files. */
export function addScenarioCommands(builder: CommandBuilder): void {
  builder
    .command(
      'validate <files...>',
      'check scenario files: every error and warning of every file, with its line; exit code 1 for errors',
      ['clock', 'seed'],
    )
    .option(
      '--explain <request>',
      'a JSON file: which outcome and rule this request would take, and why no other',
    )
    .action(
      async (files: string[], { explain: request, ...flags }: Flags & { readonly explain?: string }) => {
        const { explain, validate } = await import('../scenario-files/validate.ts');
        const unused = ['clock', 'seed'].find((name) => flags[name] !== undefined);
        if (request === undefined && unused !== undefined) {
          return builder.ended(complain(`--${unused} does nothing without --explain`));
        }
        const exitCode = validate(files, say, (line) => void complain(line));
        if (request === undefined || exitCode !== EXIT_OK) return builder.ended(exitCode);
        if (files.length > 1) return builder.ended(complain('--explain takes one scenario file'));
        builder.ended(explain(files[0]!, request, builder.settingsOf(flags), say));
      },
    );
  builder
    .command('scenarios', 'list the scenarios by name, with what each is for', ['scenarios'])
    .action(async (flags: Flags) => {
      const { listScenarios } = await import('../scenario-files/scenarios.ts');
      builder.ended(listScenarios(builder.settingsOf(flags), builder.environment));
    });
  builder.command('schema', 'print the JSON Schema of a scenario file').action(async () => {
    const { scenarioSchema } = await import('../scenario-files/documents.ts');
    say(scenarioSchema());
  });
  builder
    .command(
      'rule-from [words...]',
      'print a rule that repeats what a request of a journal or a HAR file got',
    )
    .usage('[options] [file] <request>')
    .option('--url <url>', 'the journal of a sandbox that runs, instead of a file')
    .option('--key <key>', 'the key whose world has the request, with --url')
    .action(async (words: string[], flags: RuleFromFlags) => {
      const { ruleFrom } = await import('../scenario-files/rule-from.ts');
      builder.ended(await ruleFrom(words, flags));
    });
}

import { EXIT_OK, say } from '../output.ts';
import type { CommandBuilder, Flags } from './command-builder.ts';

/** The commands that set up a project or a shell. */
export function addSetupCommands(builder: CommandBuilder): void {
  builder
    .command(
      'init [folder]',
      'write a scenario, a compose file and a first test into a project; overwrites nothing',
    )
    .option('--runner <name>', 'vitest or node [default vitest if package.json has it, else node]')
    .action(async (folder: string | undefined, { runner }: { readonly runner?: string }) => {
      const { initProject } = await import('../init.ts');
      builder.ended(initProject(folder ?? '.', runner));
    });
  builder
    .command('completion <shell>', 'print a script that completes commands in bash, zsh or fish', [
      'scenarios',
    ])
    .action(async (shell: string, flags: Flags) => {
      const { completionScript } = await import('../completion.ts');
      const { libraryFor } = await import('../scenario-files/scenarios.ts');
      say(completionScript(shell, builder.root, libraryFor(builder.settingsOf(flags)).names));
      builder.ended(EXIT_OK);
    });
}

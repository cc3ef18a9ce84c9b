import { complain, EXIT_OK, say } from '../output.ts';
import type { ProbeFlags } from '../probe-command.ts';
import type { RuleFromFlags } from '../scenario-files/rule-from.ts';
import type { CommandBuilder, Flags } from './command-builder.ts';

/** The commands about scenario files, and the one that writes a dialect. */
export function addScenarioCommands(builder: CommandBuilder): void {
  builder.group('Scenarios and dialects:');
  builder
    .command(
      'validate <files...>',
      'check scenario files: every error and warning of every file, with its line; exit code 1 for errors',
      ['clock', 'seed'],
    )
    .option(
      '--explain <request>',
      'say which outcome and rule the request in this JSON file would take, and why no other',
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
      listScenarios(builder.settingsOf(flags), builder.environment);
    });
  builder
    .command(
      'rule-from [words...]',
      'print a rule that repeats what a request of a journal or a HAR file got',
    )
    .usage('[options] [file] <request>')
    .option('--url <url>', 'read the journal of a running sandbox instead of a file')
    .option('--key <key>', 'the key whose world has the request, with --url')
    .action(async (words: string[], flags: RuleFromFlags) => {
      const { ruleFrom } = await import('../scenario-files/rule-from.ts');
      builder.ended(await ruleFrom(words, flags));
    });
  builder
    .command('probe <url>', 'ask a service harmless questions, and write its dialect for serve --dialect')
    .option(
      '--level <level>',
      'read (3 GETs), refused (6 POSTs above the balance too) or pay (at most ₹6)',
      'read',
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

import type { Command } from 'commander';
import type { SettingName } from '../../settings.ts';
import type { HuntFlags } from '../hunt/hunt-command.ts';
import type { MatrixFlags } from '../matrix/matrix-command.ts';
import type { McpFlags } from '../mcp/mcp-command.ts';
import type { ConductFlags } from '../referee/conduct-options.ts';
import type { JudgeFlags } from '../referee/judge-command.ts';
import { ALL_SETTINGS, list, type CommandBuilder, type Flags } from './command-builder.ts';

const INTENT = 'a field that is unique for each intended payout, or FIELD=PATTERN with a group';
const EXPECT = 'the payouts that should end up paid: CSV or JSON with account, amount, times';
const PROJECT_SETTINGS =
  'the settings of a project [default payout-sandbox.config.yaml or .json in this folder, if any]';

const OFF = 'a check to switch off, with the reason';
const PATIENCE = 'the longest that a client may wait for a response [default 10s]';
const EXIT_CODES = 'what the exit codes of the command say [default paid=0,failed=1,in-doubt=75]';
const FAIL_ON = 'the lowest severity that makes the command fail: error, warning, notice or never';
const WORKERS = 'how many runs to do at once [default one per processor, at most 4]';

/** The settings that decide how the worlds of a hunt behave. */
const WORLD_SETTINGS: readonly SettingName[] = [
  'openingBalance',
  'settlement',
  'scenario',
  'scenarios',
  'magic',
  'seed',
  'clock',
];

/** The same for a matrix, whose own flag --scenarios says which scenarios are run. */
const MATRIX_SETTINGS: readonly SettingName[] = [
  ...WORLD_SETTINGS.filter((name) => name !== 'scenarios'),
  'dialect',
  'rateLimit',
];

/** The commands that test a client. */
export function addTestCommands(builder: CommandBuilder): void {
  builder.group('Testing a client:');
  builder
    .command('init [folder]', 'write a scenario, a compose file and a first test\n\nOverwrites nothing.')
    .option('--runner <name>', 'vitest or node [default vitest if package.json has it, else node]')
    .action(async (folder: string | undefined, { runner }: { readonly runner?: string }) => {
      const { initProject } = await import('../init.ts');
      builder.ended(initProject(folder ?? '.', runner));
    });
  const judging = (judges: Command): Command =>
    judges
      .option('--intent <field>', INTENT)
      .option('--expect <file>', EXPECT)
      .option('--settings <file>', PROJECT_SETTINGS)
      .addOption(list('--off <check=reason>', OFF))
      .option('--patience <time>', PATIENCE)
      .addOption(list('--report <format=file>', 'junit, markdown, json, text or github, to a file'))
      .option('--junit-checks', 'in a JUnit report, a case for each check instead of one for each world')
      .option('--fail-on <severity>', FAIL_ON, 'error')
      .addOption(list('--require <checks>', 'checks that must have been exercised, separated by commas'))
      .option('--json', 'print the reports as JSON');
  judging(
    builder.command(
      'referee [command...]',
      'run a command, and judge how its payouts were made\n\nreferee [flags] -- npm test runs it against a sandbox of its own.',
      ALL_SETTINGS,
    ),
  )
    .addOption(list('--env <name=value>', 'a variable of the command, with {url} and {key} filled in'))
    .option('--url <url>', 'a running sandbox, instead of one of its own')
    .option('--key <key>', 'the key for {key} [default sk_test_referee]')
    .passThroughOptions()
    .action(async (words: string[], flags: JudgeFlags & Flags) => {
      const { judgeCommand } = await import('../referee/judge-command.ts');
      builder.ended(await judgeCommand(words, flags, builder.settingsAmong(flags), builder.environment));
    });
  builder
    .command(
      'hunt [command...]',
      'find the fewest failures that make a command pay twice\n\nOr lose a payout, or get stuck: it is run again and again.',
      ['port', ...WORLD_SETTINGS],
    )
    .addOption(list('--env <name=value>', 'a variable of the command, with {url} and {key} filled in'))
    .addOption(
      list('--goal <goals>', 'paid-twice, lost, misreported, stuck or conduct, separated by commas', 'all'),
    )
    .option('--depth <number>', 'the most failures in one run [default 3]')
    .option('--runs <number>', 'the most runs [default 500]')
    .option('--time <time>', 'how long to search [default 5m]')
    .option('--workers <number>', WORKERS)
    .option('--patience <time>', PATIENCE)
    .option('--intent <field>', INTENT)
    .option('--expect <file>', EXPECT)
    .option('--settings <file>', PROJECT_SETTINGS)
    .option('--write <folder>', 'where to write each finding as a scenario')
    .option('--exit-codes <map>', EXIT_CODES)
    .option('--known <file>', 'findings that are accepted: the JSON report of an earlier hunt')
    .addOption(list('--report <format=file>', 'junit, markdown, json or github, to a file'))
    .option('--json', 'print the result as JSON')
    .passThroughOptions()
    .action(async (words: string[], flags: HuntFlags & Flags) => {
      const { huntCommand } = await import('../hunt/hunt-command.ts');
      builder.ended(await huntCommand(words, flags, builder.settingsAmong(flags), builder.environment));
    });
  builder
    .command(
      'matrix [command...]',
      'run a command in every dialect and in every scenario\n\nIt reports where its tests or its conduct fail.',
      MATRIX_SETTINGS,
    )
    .addOption(list('--env <name=value>', 'a variable of the command, with {url} and {key} filled in'))
    .option(
      '--dialects <names>',
      'one-row, presets, pairwise, none, a preset, or choices: see docs/matrix.md',
      'one-row',
    )
    .option('--scenarios <names>', 'all, none, or scenarios by name or file', 'all')
    .option('--workers <number>', WORKERS)
    .option(
      '--limit <time>',
      'how long one run may take [default 5 times as long as without failures, plus 60 s]',
    )
    .addOption(list('--report <format=file>', 'markdown, junit or json, to a file'))
    .option('--intent <field>', INTENT)
    .option('--expect <file>', EXPECT)
    .option('--settings <file>', PROJECT_SETTINGS)
    .addOption(list('--off <check=reason>', OFF))
    .option('--patience <time>', PATIENCE)
    .option('--fail-on <severity>', FAIL_ON, 'error')
    .option('--exit-codes <map>', EXIT_CODES)
    .option('--require-exercised', 'fail if the client saw nothing of a dialect or scenario')
    .option('--json', 'print the result as JSON')
    .passThroughOptions()
    .action(async (words: string[], flags: MatrixFlags & Flags) => {
      const { matrixCommand } = await import('../matrix/matrix-command.ts');
      const { scenarios: _names, ...settings } = flags;
      builder.ended(await matrixCommand(words, flags, builder.settingsAmong(settings), builder.environment));
    });
  judging(builder.command('examine <file>', 'judge a saved journal or a HAR file')).action(
    async (file: string, flags: ConductFlags) => {
      const { examine } = await import('../referee/examine.ts');
      builder.ended(examine(file, flags, builder.environment));
    },
  );
  builder
    .command(
      'mcp',
      'give a coding agent tools for a sandbox\n\nBy the Model Context Protocol, on standard input and output.',
      ALL_SETTINGS,
    )
    .option('--url <url>', 'a running sandbox, instead of one of its own')
    .option('--key <key>', 'the key of the world that the tools work on [default sk_test_demo]')
    .option('--allow-commands', 'let the tool hunt run commands')
    .action(async (flags: McpFlags & Flags) => {
      const { mcpCommand } = await import('../mcp/mcp-command.ts');
      builder.ended(await mcpCommand(flags, builder.settingsAmong(flags), builder.environment));
    });
}

import { Option, type Command } from 'commander';
import type { SettingName } from '../../settings.ts';
import type { McpFlags } from '../mcp/mcp-command.ts';
import type { SettingFlags } from '../own-server.ts';
import { ALL_SETTINGS, list, type CommandBuilder, type Flags } from './command-builder.ts';

const FLAGS = {
  env: list(
    '--env <name=value>',
    'a variable of the command, with {url}, {key} and {dir} (a fresh folder) filled in',
  ),
  intent: new Option(
    '--intent <field>',
    'FIELD=PATTERN with one group, or a field that differs for each intended payout',
  ),
  expect: new Option(
    '--expect <file>',
    'the payouts that should end up paid: CSV or JSON with account, amount, times',
  ),
  settings: new Option(
    '--settings <file>',
    'the settings of a project [default payout-sandbox.config.yaml in this folder, if any]',
  ),
  off: list('--off <check=reason>', 'a check to switch off, with the reason'),
  patience: new Option(
    '--patience <time>',
    'the longest that a client may wait for a response [default 10s]',
  ),
  failOn: new Option('--fail-on <severity>', 'the lowest severity that makes the command fail')
    .choices(['error', 'warning', 'notice', 'never'])
    .default('error'),
  exitCodes: new Option(
    '--exit-codes <map>',
    'what the exit codes of the command say [default paid=0,failed=1,in-doubt=75]',
  ),
  workers: new Option(
    '--workers <number>',
    'how many runs to do at once [default one per processor, at most 4]',
  ),
  json: new Option('--json', 'print the result as JSON'),
};

function take(command: Command, ...names: readonly (keyof typeof FLAGS)[]): Command {
  for (const name of names) command.addOption(FLAGS[name]);
  return command;
}

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

const HUNT_SETTINGS: readonly SettingName[] = ['port', ...WORLD_SETTINGS];

/** The same for a matrix, whose own flag --scenarios says which scenarios are run. */
const MATRIX_SETTINGS: readonly SettingName[] = [
  ...WORLD_SETTINGS.filter((name) => name !== 'scenarios'),
  'dialect',
  'rateLimit',
];

/** The flags that are settings of the sandbox, as they were written. */
const settingsAmong = (flags: Flags, settings: readonly SettingName[]): SettingFlags =>
  Object.fromEntries(Object.entries(flags).filter(([name]) => settings.includes(name as SettingName)));

/** Runs the command of a user. @param flags those of this command, which has declared them */
type Run = (
  words: string[],
  flags: never,
  settings: SettingFlags,
  environment: NodeJS.ProcessEnv,
) => Promise<number>;

export function addTestCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('Testing a client:');
  builder
    .command('init [folder]', 'write a scenario, a compose file and a first test\n\nOverwrites nothing.')
    .action(async (folder: string | undefined) => {
      const { initProject } = await import('../init.ts');
      builder.ended(initProject(folder ?? '.'));
    });
  /** What runs the command of a user. */
  const runs = (command: Command, settings: readonly SettingName[], load: () => Promise<Run>): Command =>
    take(command, 'env')
      .passThroughOptions()
      .action(async (words: string[], flags: Flags) => {
        const run = await load();
        builder.ended(await run(words, flags as never, settingsAmong(flags, settings), builder.environment));
      });
  const referee = builder
    .withSandbox(
      'referee [command...]',
      'run a command, and judge how its client behaved\n\nreferee [flags] -- npm test runs npm test against a new sandbox.',
      ALL_SETTINGS,
    )
    .option('--url <url>', 'a running sandbox, instead of one of its own')
    .option('--key <key>', 'the key for {key} [default sk_test_referee]');
  take(referee, 'intent', 'expect', 'settings', 'off', 'patience', 'failOn', 'json')
    .addOption(list('--report <format=file>', 'junit, markdown, json or text, to a file'))
    .option('--verbose', 'report each check, also those that had nothing to test')
    .addOption(list('--require <checks>', 'checks that must have been exercised, separated by commas'));
  runs(referee, ALL_SETTINGS, async () => (await import('../referee/judge-command.ts')).judgeCommand);
  const hunt = builder
    .withSandbox(
      'hunt [command...]',
      'find the fewest failures that make a command pay twice\n\nAlso those that make it lose a payout or get stuck. The command is run many times, each time with other failures.',
      HUNT_SETTINGS,
    )
    .addOption(
      list('--goal <goals>', 'paid-twice, lost, misreported, stuck or conduct, separated by commas', 'all'),
    )
    .option('--depth <number>', 'the most failures in one run [default 3]')
    .option('--runs <number>', 'the most runs [default 500]')
    .option('--time <time>', 'how long to search [default 5m]')
    .option('--write <folder>', 'where to write each finding as a scenario')
    .option('--no-kill', 'do not kill the command and run it again');
  take(hunt, 'workers', 'patience', 'intent', 'expect', 'settings', 'exitCodes', 'json');
  runs(hunt, HUNT_SETTINGS, async () => (await import('../hunt/hunt-command.ts')).huntCommand);
  const matrix = builder
    .withSandbox(
      'matrix [command...]',
      'run a command in dialects and scenarios\n\nReports in which of them its tests fail, or its client misbehaves.',
      MATRIX_SETTINGS,
    )
    .option('--dialects <names>', 'all, none, or presets by name: see docs/matrix.md', 'all')
    .option('--scenarios <names>', 'all, none, or scenarios by name or file', 'all')
    .option('--limit <time>', 'how long one run may take [default 5m]')
    .addOption(list('--report <format=file>', 'markdown, junit or json, to a file'));
  take(matrix, 'workers', 'intent', 'expect', 'settings', 'off', 'patience', 'failOn', 'exitCodes', 'json');
  runs(matrix, MATRIX_SETTINGS, async () => (await import('../matrix/matrix-command.ts')).matrixCommand);
  builder
    .withSandbox(
      'mcp',
      'give a coding agent tools for a sandbox\n\nSpeaks the Model Context Protocol on standard input and output.',
      ALL_SETTINGS,
    )
    .option('--url <url>', 'a running sandbox, instead of one of its own')
    .option('--key <key>', 'the key of the world that the tools work on [default sk_test_demo]')
    .action(async (flags: McpFlags & Flags) => {
      const { mcpCommand } = await import('../mcp/mcp-command.ts');
      builder.ended(await mcpCommand(flags, settingsAmong(flags, ALL_SETTINGS), builder.environment));
    });
}

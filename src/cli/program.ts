import { Command, CommanderError } from 'commander';
import { durationMs } from '../contract/duration.ts';
import { readSettings, SETTINGS, type SettingName } from '../settings.ts';
import type { ConductFlags } from './referee/conduct-options.ts';
import type { HuntFlags } from './hunt/hunt-command.ts';
import type { JudgeFlags } from './referee/judge-command.ts';
import type { McpFlags } from './mcp/mcp-command.ts';
import type { MatrixFlags } from './matrix/matrix-command.ts';
import type { ProbeFlags } from './probe-command.ts';
import type { RuleFromFlags } from './rule-from.ts';
import { EXAMPLES, EXIT_CODES, SERVE_EXAMPLES } from './help-texts.ts';
import { complain, EXIT_OK, say } from './output.ts';
import { packageVersion } from '../package-files.ts';
import { suggestion } from '../contract/suggestion.ts';

const INTENT = 'a field that is unique for each intended payout, or FIELD=PATTERN with a group';
const EXPECT = 'the payouts that should end up paid: CSV or JSON with account, amount, times';
const PROJECT_SETTINGS =
  'the settings of a project [default payout-sandbox.config.yaml or .json, if it is here]';

const OFF = 'a check that is off, with the reason';
const PATIENCE = 'the longest that a client may wait for an answer [default 10s]';
const FAIL_ON = 'error, warning, notice or never';
const WORKERS = 'how many runs may be under way together [default one for each processor, at most 4]';

type Flags = Readonly<Record<string, unknown>>;

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

/** Those of a matrix, whose own flag --scenarios says which are run. */
const MATRIX_SETTINGS: readonly SettingName[] = [
  ...WORLD_SETTINGS.filter((name) => name !== 'scenarios'),
  'dialect',
  'rateLimit',
];

const ALL_SETTINGS: readonly SettingName[] = SETTINGS.map(({ name }) => name);

/** Gives a command the flags of these settings. */
function takeSettings(command: Command, names: readonly SettingName[]): Command {
  for (const { name, flag, value, description, env, defaultText } of SETTINGS) {
    if (!names.includes(name)) continue;
    command.option(`${flag} ${value}`, `${description} [${env}; default ${defaultText}]`);
  }
  return command;
}

/**
 * The commands. Each loads only what it needs. Without a command, the sandbox is served.
 *
 * @param ended called by a command that has an exit code of its own
 */
function buildCommand(environment: NodeJS.ProcessEnv, ended: (exitCode: number) => void): Command {
  /** Flags may stand before a command as well as behind it. */
  const settingsOf = (flags: Flags) => readSettings({ ...root.opts<Flags>(), ...flags }, environment);
  /** The flags that are settings of the sandbox. */
  const settingsAmong = (flags: Flags): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries({ ...root.opts<Flags>(), ...flags }).filter((flag): flag is [string, string] =>
        ALL_SETTINGS.includes(flag[0] as SettingName),
      ),
    );
  const serve = async (flags: Flags): Promise<void> => {
    const settings = settingsOf(flags);
    const program = await import('./serve.ts');
    ended(await program.serve(settings));
  };

  const root = new Command('payout-sandbox')
    .description('A payout service to test against. Everything stays on this machine.')
    .version(packageVersion(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this; with a command, what it takes')
    .helpCommand(false)
    .enablePositionalOptions()
    .allowExcessArguments(true) // a word that is no command: `action` says so
    .showHelpAfterError(false)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => {
      const [word] = root.args;
      if (word === undefined) return serve(flags);
      const names = root.commands.map((known) => known.name());
      ended(
        complain(
          `there is no command ${word}${suggestion(word, names)}: without one, the sandbox is served (see --help)`,
        ),
      );
    });
  takeSettings(root, ALL_SETTINGS);

  const command = (usage: string, description: string, settings: readonly SettingName[] = []): Command =>
    takeSettings(root.command(usage), settings).description(description).allowExcessArguments(false);

  command('serve', 'serve the sandbox until a signal stops it, as without a command', ALL_SETTINGS)
    .addHelpText('after', `${SERVE_EXAMPLES}\n${EXIT_CODES}`)
    .action(serve);
  command(
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
        const { explain, validate } = await import('./validate.ts');
        const exitCode = validate(files, say);
        if (request === undefined || exitCode !== EXIT_OK) return ended(exitCode);
        if (files.length > 1) return ended(complain('--explain takes one scenario file'));
        ended(explain(files[0]!, request, settingsOf(flags), say));
      },
    );
  command('scenarios', 'list the scenarios by name, with what each is for', ['scenarios']).action(
    async (flags: Flags) => {
      const { listScenarios } = await import('./scenarios.ts');
      ended(listScenarios(settingsOf(flags), environment));
    },
  );
  command('schema', 'print the JSON Schema of a scenario file').action(async () => {
    const { scenarioSchema } = await import('./documents.ts');
    say(scenarioSchema());
  });
  command('openapi', 'print the OpenAPI document of the service and of the control API').action(async () => {
    const { openapiDocument } = await import('./documents.ts');
    say(await openapiDocument());
  });
  command('health', 'ask whether a sandbox is ready: exit code 0 if it is, 1 if not', ['host', 'port'])
    .option('--url <url>', 'where it is [default: at HOST and PORT of this machine]')
    .option('--wait <time>', 'ask again for so long while it is not ready, such as 30s [default: ask once]')
    .action(
      async ({ url, wait = '0s', ...flags }: Flags & { readonly url?: string; readonly wait?: string }) => {
        const waitMs = durationMs(wait);
        if (waitMs === undefined)
          return ended(complain(`--wait must be a duration such as 30s, not ${wait}`));
        const { askHealth } = await import('./health.ts');
        ended(await askHealth(url === undefined ? settingsOf(flags) : url, waitMs));
      },
    );
  command('probe <url>', 'ask a service harmless questions, and write its dialect for serve --dialect')
    .option(
      '--level <level>',
      'read (3 GETs), refused (6 POSTs above the balance too) or pay (at most ₹6)',
      'read',
    )
    .option('--key-env <name>', 'the variable that has the API key')
    .option('--write <file>', 'where to write the dialect [default: standard output]')
    .option('--dry-run', 'show every request that it would send, and send none')
    .option('--yes', 'do not ask before level pay')
    .option('--name <name>', 'the beneficiary', 'Probe')
    .option('--account <number>', 'the account that gets the payouts of level pay')
    .option('--ifsc <code>', 'the IFSC of that account')
    .option('--upi <id>', 'a UPI ID of the same person', 'probe@upi')
    .action(async (url: string, flags: Flags) => {
      const { probeCommand } = await import('./probe-command.ts');
      ended(await probeCommand(url, flags as unknown as ProbeFlags, environment));
    });
  const judging = (judges: Command): Command =>
    judges
      .option('--intent <field>', INTENT)
      .option('--expect <file>', EXPECT)
      .option('--settings <file>', PROJECT_SETTINGS)
      .option('--off <check=reason>', OFF, collected, [])
      .option('--patience <time>', PATIENCE)
      .option('--report <format=file>', 'junit, markdown, json, text or github, to a file', collected, [])
      .option('--fail-on <severity>', FAIL_ON, 'error')
      .option(
        '--require <checks>',
        'checks that must have had an occasion, separated by commas',
        collected,
        [],
      );
  judging(
    command(
      'referee [command...]',
      'run a command against a sandbox of its own, and judge how it behaved: referee [flags] -- npm test',
      ALL_SETTINGS,
    ),
  )
    .option('--env <name=value>', 'a variable of the command, with {url} and {key} filled in', collected, [])
    .option('--url <url>', 'a sandbox that runs, instead of one of its own')
    .option('--key <key>', 'the key for {key} [default sk_test_referee]')
    .passThroughOptions()
    .action(async (words: string[], flags: Flags) => {
      const { judgeCommand } = await import('./referee/judge-command.ts');
      ended(await judgeCommand(words, flags as unknown as JudgeFlags, settingsAmong(flags), environment));
    });
  command(
    'hunt [command...]',
    'run a command again and again, and search for the fewest failures that make it pay twice, lose a payout or get stuck',
    WORLD_SETTINGS,
  )
    .option('--env <name=value>', 'a variable of the command, with {url} and {key} filled in', collected, [])
    .option(
      '--goal <goals>',
      'paid-twice, lost, stuck or conduct, separated by commas [default all]',
      collected,
      [],
    )
    .option('--depth <number>', 'the most failures in one run [default 3]')
    .option('--runs <number>', 'the most runs [default 500]')
    .option('--time <time>', 'how long to search [default 5m]')
    .option('--workers <number>', WORKERS)
    .option('--patience <time>', PATIENCE)
    .option('--intent <field>', INTENT)
    .option('--expect <file>', EXPECT)
    .option('--settings <file>', PROJECT_SETTINGS)
    .option('--write <folder>', 'where to write each find as a scenario')
    .passThroughOptions()
    .action(async (words: string[], flags: Flags) => {
      const { huntCommand } = await import('./hunt/hunt-command.ts');
      ended(await huntCommand(words, flags as unknown as HuntFlags, settingsAmong(flags), environment));
    });
  command(
    'matrix [command...]',
    'run a command once with every dialect and once with every scenario, and say with which its tests or its conduct fail',
    MATRIX_SETTINGS,
  )
    .option('--env <name=value>', 'a variable of the command, with {url} and {key} filled in', collected, [])
    .option(
      '--dialects <names>',
      'one-row, presets, pairwise, none, a preset, or choices: see docs/matrix.md',
      'one-row',
    )
    .option('--scenarios <names>', 'all, none, or scenarios by name or file', 'all')
    .option('--workers <number>', WORKERS)
    .option(
      '--limit <time>',
      'how long one run may take [default 5 times as long as without failures, and 60 s]',
    )
    .option('--report <format=file>', 'markdown, junit or json, to a file', collected, [])
    .option('--intent <field>', INTENT)
    .option('--expect <file>', EXPECT)
    .option('--settings <file>', PROJECT_SETTINGS)
    .option('--off <check=reason>', OFF, collected, [])
    .option('--patience <time>', PATIENCE)
    .option('--fail-on <severity>', FAIL_ON, 'error')
    .passThroughOptions()
    .action(async (words: string[], flags: Flags) => {
      const { matrixCommand } = await import('./matrix/matrix-command.ts');
      const { scenarios: _names, ...settings } = flags;
      ended(
        await matrixCommand(words, flags as unknown as MatrixFlags, settingsAmong(settings), environment),
      );
    });
  command('mcp', 'give a coding agent tools for a sandbox: the Model Context Protocol', ALL_SETTINGS)
    .option('--url <url>', 'a sandbox that runs, instead of one of its own')
    .option('--key <key>', 'the key of the world that the tools work on [default sk_test_demo]')
    .option('--allow-commands', 'let the tool hunt run commands')
    .action(async (flags: McpFlags & Flags) => {
      const { mcpCommand } = await import('./mcp/mcp-command.ts');
      ended(await mcpCommand(flags, settingsAmong(flags), environment));
    });
  judging(command('examine <file>', 'judge a saved journal or a HAR file')).action(
    async (file: string, flags: Flags) => {
      const { examine } = await import('./referee/examine.ts');
      ended(examine(file, flags as unknown as ConductFlags, environment));
    },
  );
  command('rule-from [words...]', 'print a rule that repeats what a request of a journal or a HAR file got')
    .usage('[options] [file] <request>')
    .option('--url <url>', 'the journal of a sandbox that runs, instead of a file')
    .option('--key <key>', 'the key whose world has the request, with --url')
    .action(async (words: string[], flags: RuleFromFlags) => {
      const { ruleFrom } = await import('./rule-from.ts');
      ended(await ruleFrom(words, flags));
    });
  return root;
}

/** Collects a flag that may be given several times. */
const collected = (value: string, before: readonly string[]): readonly string[] => [...before, value];

/** Parses the command line and does what it says. @returns the exit code */
export async function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let exitCode = EXIT_OK;
  const command = buildCommand(environment, (code) => (exitCode = code));
  try {
    const [word, ...rest] = args;
    await command.parseAsync(word === 'help' ? [...rest, '--help'] : args, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT_OK;
    const message = error.message.replace(/(unknown option '[^=]*)=.*'/s, "$1'"); // the value may be a key
    return complain(`${message} (see --help)`);
  }
}

import { z } from 'zod';
import { parsed } from '../../actions/sandbox-action.ts';
import type { SettingName } from '../../settings.ts';
import type { McpFlags } from '../mcp-server.ts';
import type { SettingFlags } from '../own-server.ts';
import { addFlags, flagOf } from './action-commands.ts';
import { ALL_SETTINGS, type CommandBuilder, type Flags } from './command-builder.ts';
import { HUNT_FLAGS, MATRIX_FLAGS, REFEREE_FLAGS } from './test-flags.ts';

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

/** Runs the command of a user. */
type Run<Shape extends z.ZodRawShape> = (
  words: readonly string[],
  flags: z.output<z.ZodObject<Shape>>,
  settings: SettingFlags,
  environment: NodeJS.ProcessEnv,
) => Promise<number>;

export function addTestCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('Testing a client:');
  builder
    .command(
      'init [folder]',
      'write a client, three tests, a scenario and a referee script\n\nDetects whether the project uses vitest, jest or node:test, TypeScript and ES modules. Overwrites nothing.',
    )
    .action(async (folder: string | undefined) => {
      const { initProject } = await import('../init.ts');
      builder.ended(initProject(folder ?? '.'));
    });
  /** Adds a command that runs that of a user. */
  const runs = <Shape extends z.ZodRawShape>(
    name: string,
    description: string,
    shape: Shape,
    settings: readonly SettingName[],
    load: () => Promise<Run<Shape>>,
  ): void => {
    const command = builder.withSandbox(`${name} [command...]`, description, settings);
    addFlags(command, shape);
    command.passThroughOptions().action(async (words: string[], given: Flags) => {
      const own = Object.fromEntries(Object.entries(given).filter(([name]) => Object.hasOwn(shape, name)));
      const flags = parsed(z.strictObject(shape), own, flagOf);
      const run = await load();
      builder.ended(await run(words, flags, settingsAmong(given, settings), builder.environment));
    });
  };
  runs(
    'referee',
    'run a command, and judge how its client behaved\n\nreferee [flags] -- npm test runs npm test against a new sandbox.',
    REFEREE_FLAGS,
    ALL_SETTINGS,
    async () => (await import('../referee/judge-command.ts')).judgeCommand,
  );
  runs(
    'hunt',
    'find the fewest failures that make a command pay twice\n\nAlso finds those that make it lose a payout or get stuck. Runs the command many times, with different failures.',
    HUNT_FLAGS,
    HUNT_SETTINGS,
    async () => (await import('../hunt-command.ts')).huntCommand,
  );
  runs(
    'matrix',
    'run a command in dialects and scenarios\n\nReports where its tests fail or its client misbehaves.',
    MATRIX_FLAGS,
    MATRIX_SETTINGS,
    async () => (await import('../matrix-command.ts')).matrixCommand,
  );
  builder
    .withSandbox(
      'mcp',
      'give a coding agent tools for a sandbox\n\nSpeaks the Model Context Protocol on standard input and output.',
      ALL_SETTINGS,
    )
    .option('--url <url>', 'a running sandbox, instead of one of its own')
    .option('--key <key>', 'the key of the world that the tools work on [default sk_test_demo]')
    .action(async (flags: McpFlags & Flags) => {
      const { mcpCommand } = await import('../mcp-server.ts');
      builder.ended(await mcpCommand(flags, settingsAmong(flags, ALL_SETTINGS), builder.environment));
    });
}

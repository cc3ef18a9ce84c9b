import { Option, type Command } from 'commander';
import { z } from 'zod';
import { ACTIONS, SUBJECTS } from '../../actions/actions.ts';
import { adviceOn, errorLines, type Action, type Actor } from '../../actions/sandbox-action.ts';
import { NoSandboxError, SandboxError } from '../../client/control-client.ts';
import { ExpectationError } from '../../client/expectation.ts';
import { sandboxAt } from '../../client/sandbox.ts';
import { readSettings } from '../../settings.ts';
import { checkAddress, addressOf } from '../health.ts';
import { checkWritable, textOfFile, writeText } from '../named-files.ts';
import { complain, EXIT_FAILED, EXIT_OK, paintFor, say } from '../output.ts';
import { noSuchCommand, type CommandBuilder, type Flags } from './command-builder.ts';

interface Argument {
  readonly kind: 'flag' | 'list' | 'value';
  /** For a flag: whether it applies unless it is switched off. */
  readonly isOn: boolean;
  /** Stands for its value in --help. */
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

type Arguments = Readonly<Record<string, Argument>>;

/** Not by way of a JSON Schema, which takes 20 ms for all actions, at the start of every command. */
function argumentOf(schema: z.ZodType): Argument {
  const unset = schema.safeParse(undefined);
  let inner = schema;
  let { title, description } = schema.meta() ?? {};
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodOptional) {
    inner = inner.unwrap() as z.ZodType;
    title ??= inner.meta()?.title;
    description ??= inner.meta()?.description;
  }
  const kind = inner instanceof z.ZodBoolean ? 'flag' : inner instanceof z.ZodArray ? 'list' : 'value';
  return { kind, title, description, isRequired: !unset.success, isOn: unset.data === true };
}

const argumentsOf = (shape: z.ZodRawShape): Arguments =>
  Object.fromEntries(
    Object.entries(shape).map(([field, schema]) => [field, argumentOf(schema as z.ZodType)]),
  );

/** `--at-risk` for `at_risk`, `--fail-on` for `failOn` */
export const flagOf = (field: string): string => `--${field.replaceAll(/_|(?=[A-Z])/g, '-').toLowerCase()}`;

function optionOf(field: string, { kind, title = 'text', description = '', isOn }: Argument): Option {
  if (kind === 'flag') return new Option(flagOf(isOn ? `no-${field}` : field), description);
  const option = new Option(`${flagOf(field)} <${title}>`, description);
  if (kind === 'value') return option;
  return option.argParser((value: string, before?: readonly string[]) => [...(before ?? []), value]);
}

/** The options of a command, from the shape of its arguments. */
export function addFlags(command: Command, shape: z.ZodRawShape): void {
  for (const [field, argument] of Object.entries(argumentsOf(shape))) {
    command.addOption(optionOf(field, argument));
  }
}

const URL_FLAG = [
  '--url <url>',
  'the address of the sandbox [SANDBOX_URL; default SANDBOX_HOST and SANDBOX_PORT on this machine]',
] as const;

/** How to say which sandbox and which world is meant, or that one is its admin. */
const WHERE: Readonly<Record<Action['scope'], readonly (readonly [flags: string, description: string])[]>> = {
  world: [URL_FLAG, ['--key <key>', 'the key of the world [SANDBOX_KEY; default sk_test_demo]']],
  sandbox: [URL_FLAG, ['--admin-token <text>', 'the admin token of the sandbox [SANDBOX_ADMIN_TOKEN]']],
};

function takeFlags(
  command: Command,
  taken: Arguments,
  { words, scope }: Pick<Action, 'words' | 'scope'>,
): void {
  for (const [field, argument] of Object.entries(taken)) {
    if (!words.includes(field) && field !== 'key') command.addOption(optionOf(field, argument));
  }
  for (const [flags, description] of WHERE[scope]) command.option(flags, description);
}

/** Whether its one word may be several: `advance 2 hours`. */
const takesTime = ([word]: Action['words']): boolean => word === 'time';

/** The values of an action's arguments, as they were typed. */
function given(command: Command, words: Action['words']): Flags {
  const args = takesTime(words) ? [command.args.join(' ')] : command.args;
  const typed = command.options.map((option) => [
    option.long!.slice(2).replaceAll('-', '_'),
    command.getOptionValue(option.attributeName()) as unknown,
  ]);
  const values = [...words.map((field, index) => [field, args[index]] as const), ...typed];
  return Object.fromEntries(
    values.filter(([name, value]) => value !== undefined && name !== 'url' && name !== 'admin_token'),
  );
}

interface ActorFlags {
  readonly url?: string;
  readonly adminToken?: string;
}

const DEFAULT_KEY = 'sk_test_demo';

const keyOf = (flag: string | undefined, environment: NodeJS.ProcessEnv): string =>
  flag ?? (environment['SANDBOX_KEY'] || DEFAULT_KEY);

function urlOf(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  const given = flag ?? environment['SANDBOX_URL'];
  if (given) {
    checkAddress(flag === undefined ? 'SANDBOX_URL' : '--url', given);
    return given.replace(/\/_sandbox\/?$/, ''); // the address of its page
  }
  return addressOf(readSettings({}, environment));
}

/** Whoever types a command: its texts are in files. No request is sent. */
function terminalActor({ url, adminToken }: ActorFlags, environment: NodeJS.ProcessEnv): Actor {
  const token = adminToken ?? environment['SANDBOX_ADMIN_TOKEN'];
  const sandbox = sandboxAt({ url: urlOf(url, environment), adminToken: token }, () => DEFAULT_KEY);
  return {
    sandbox,
    world: (key) => sandbox.world(keyOf(key, environment)),
    // a key that the user gave may be a secret
    keyText: (key) => (keyOf(key, environment) === DEFAULT_KEY ? `the key ${DEFAULT_KEY}` : 'your key'),
    texts: {
      read: (calledBy, file) => ({
        name: file === '-' ? 'standard input' : String(file),
        text: textOfFile(calledBy, String(file)),
      }),
      async save(calledBy, file, text) {
        checkWritable(calledBy, file);
        writeText(calledBy, file, await text());
      },
      saved: textOfFile,
    },
    paint: paintFor(environment),
  };
}

/** A command that only groups subcommands. Its action lists them. */
function subjectOf(builder: CommandBuilder, name: string): Command {
  const known = builder.root.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const command = builder.command(`${name} [command]`, SUBJECTS[name]!).usage('<command>').helpCommand(false);
  return command.allowExcessArguments(true).action(() => {
    builder.ended(complain(noSuchCommand(command, command.args[0])));
  });
}

function addAction(builder: CommandBuilder, action: Action): void {
  const { name, summary, details, input, words } = action;
  const [subject, verb] = name.split(' ') as [string, string?];
  const taken = argumentsOf(input.shape);
  const titleOf = (field: string): string => taken[field]?.title ?? field;
  const description = details === '' ? summary : `${summary}\n\n${details}`;
  const command =
    verb === undefined
      ? builder.command(subject, description)
      : subjectOf(builder, subject).command(verb).summary(summary).description(description);
  command.allowExcessArguments(takesTime(words));
  for (const field of words) {
    const title = titleOf(field);
    const { isRequired, description } = taken[field]!;
    command.argument(isRequired ? `<${title}>` : `[${title}]`, description);
  }
  takeFlags(command, taken, action);
  const nameOf = (field: string): string => (words.includes(field) ? titleOf(field) : flagOf(field));
  command.action(async () => {
    const actor = terminalActor(command.opts<ActorFlags>(), builder.environment);
    const { text, hasFailed } = await action.perform(given(command, words), actor, nameOf);
    say(text);
    builder.ended(hasFailed ? EXIT_FAILED : EXIT_OK);
  });
}

/** The commands for a running sandbox: one for each action. */
export function addActionCommands(builder: CommandBuilder): void {
  builder.root.commandsGroup('A running sandbox:');
  for (const action of ACTIONS) addAction(builder, action);
}

const advice = {
  noSandbox: '; start one with payout-sandbox, or give the address of another with --url or SANDBOX_URL',
  adminToken: '; --admin-token or SANDBOX_ADMIN_TOKEN names the token',
  key: '; --key or SANDBOX_KEY names another key',
};

/** Refusals of something that the sandbox can do, but not now: a balance that is too low, a state that does not allow it. */
const NOT_NOW: ReadonlySet<number> = new Set([402, 409]);

/** Reports an error of a sandbox or of what was asked of it. @throws any other error */
export function complainOf(error: unknown): number {
  const isOurs =
    error instanceof NoSandboxError || error instanceof SandboxError || error instanceof ExpectationError;
  if (!isOurs) throw error;
  const misuse = complain(errorLines(error).join('; ') + adviceOn(error, advice));
  return error instanceof SandboxError && NOT_NOW.has(error.status) ? EXIT_FAILED : misuse;
}

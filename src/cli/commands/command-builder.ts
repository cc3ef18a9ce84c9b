import type { Command } from 'commander';
import { suggestion } from '../../contract/suggestion.ts';
import { removedText } from '../../removed.ts';
import { SETTINGS, type SettingName } from '../../settings.ts';

/** What commander parsed, by the names of the flags in camel case. */
export type Flags = Readonly<Record<string, unknown>>;

export const ALL_SETTINGS: readonly SettingName[] = SETTINGS.map(({ name }) => name);

/** Whether a word is not a command but the file of a scenario to serve. */
export const isScenarioFile = (word: string): boolean => /\.(?:ya?ml|json)$/i.test(word);

/** The message for a word that is not a subcommand of this command, or for a missing one. */
export function noSuchCommand(command: Command, word?: string): string {
  const removed = word === undefined ? undefined : removedText(word, `${command.name()} ${word}`);
  if (removed !== undefined) return removed;
  const names = command.commands.map((sub) => sub.name());
  const hint = word === undefined ? '' : suggestion(word, names);
  if (command.parent === null) {
    if (names.includes(word!)) return `${word} must come before its flags`;
    return `there is no command ${word}${hint}; payout-sandbox --help lists the commands`;
  }
  const name = command.name();
  if (names.length === 0) return `there is no command ${name} ${word} (see ${name} --help)`;
  const wrong = word === undefined ? '' : `, not ${word}${hint}`;
  return `${name} takes one of ${names.join(', ')}${wrong} (see ${name} --help)`;
}

/** The commands that `--help` shows: what a new user needs. `--help --all` has the others, too. */
const FIRST_COMMANDS: ReadonlySet<string> = new Set([
  'serve',
  'init',
  'scenarios',
  'validate',
  'status',
  'pay',
  'payouts',
  'advance',
  'clock',
  'use',
  'rule',
  'explain',
  'journal',
  'reset',
  'undo',
  'referee',
  'hunt',
  'mcp',
]);

/** Adds commands to the program. Each command loads only what it needs. */
export class CommandBuilder {
  readonly root: Command;
  readonly environment: NodeJS.ProcessEnv;
  /** Called by a command that has an exit code of its own. */
  readonly ended: (exitCode: number) => void;
  readonly #showsAll: boolean;

  constructor(
    root: Command,
    environment: NodeJS.ProcessEnv,
    ended: (exitCode: number) => void,
    showsAll: boolean,
  ) {
    this.root = root;
    this.environment = environment;
    this.ended = ended;
    this.#showsAll = showsAll;
  }

  /** @param description a summary of at most 54 characters for the list of commands, and more to know after an empty line */
  command(usage: string, description: string, settings: readonly SettingName[] = []): Command {
    const [name] = usage.split(' ') as [string];
    const isFirst = FIRST_COMMANDS.has(name);
    const command = this.root
      .command(usage, { hidden: !isFirst && !this.#showsAll, isDefault: name === 'serve' })
      .summary(description.split('\n', 1)[0]!)
      .description(description)
      .allowExcessArguments(false);
    for (const { name, flag, value, description, env, defaultText } of SETTINGS) {
      if (!settings.includes(name)) continue;
      command.option(`${flag} ${value}`, `${description} [${env}; default ${defaultText}]`);
    }
    return command;
  }

  /** A command with a sandbox of its own. Its --help fits one screen: it only names the settings, which `serve --help` explains. */
  withSandbox(usage: string, description: string, settings: readonly SettingName[]): Command {
    const command = this.command(usage, description, settings);
    for (const option of command.options) option.hideHelp();
    const flags = command.options.map(({ long }) => long!);
    const names = settings === ALL_SETTINGS ? 'all of them' : flags.join(', ');
    return command.addHelpText(
      'after',
      `\nSettings of the sandbox, which serve --help explains:\n  ${names.replaceAll(/(.{50,70}?), /g, '$1,\n  ')}`,
    );
  }
}

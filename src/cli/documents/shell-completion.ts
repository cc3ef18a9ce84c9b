import type { Argument, Command, Option } from 'commander';
import { RouteName } from '../../contract/match.ts';
import { SETTLEMENTS } from '../../contract/scenario-document.ts';
import { STATES, TRANSFER_MODES } from '../../contract/service.ts';
import { SettingsError } from '../../settings.ts';
import { namesOf } from '../commands/command-builder.ts';

/** The values that a flag or an argument can take. */
interface Values {
  readonly words: readonly string[];
  readonly isFile: boolean;
}

interface CompletedFlag extends Values {
  readonly flag: string;
  readonly description: string;
  readonly takesValue: boolean;
}

/** What can be completed after a command. */
interface CompletedCommand {
  /** `` for the program itself, `rule add` for a command of a group. */
  readonly path: string;
  readonly flags: readonly CompletedFlag[];
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly argument: Values;
}

/** The words that a placeholder of `--help` stands for. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'on or off': ['on', 'off'],
  preset: SETTLEMENTS,
  mode: TRANSFER_MODES,
  state: STATES,
  route: RouteName.options,
  origin: ['world', 'scenario', 'magic'],
  severity: ['error', 'warning', 'notice', 'never'],
  shell: ['bash', 'zsh', 'fish'],
};

const FILE = /file|folder|request\b/;

/** @param placeholder `name or file` in `--scenario <name or file>` */
function valuesOf(placeholder: string, isScenario: boolean, scenarios: readonly string[]): Values {
  return {
    words: isScenario ? scenarios : (WORDS[placeholder] ?? []),
    isFile: isScenario || FILE.test(placeholder),
  };
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!;

function flagOf({ long, flags, description }: Option, scenarios: readonly string[]): CompletedFlag {
  const placeholder = /<(.*)>/.exec(flags)?.[1];
  return {
    flag: long!,
    description: firstLine(description),
    takesValue: placeholder !== undefined,
    ...valuesOf(placeholder ?? '', long === '--scenario', scenarios),
  };
}

const argumentOf = (argument: Argument | undefined, scenarios: readonly string[]): Values =>
  argument === undefined
    ? { words: [], isFile: false }
    : valuesOf(argument.name(), argument.name() === 'scenario', scenarios);

/** A command and all its subcommands, as commander knows them. */
function completedCommands(
  command: Command,
  path: string,
  scenarios: readonly string[],
): readonly CompletedCommand[] {
  const below = command.commands.flatMap((sub) =>
    namesOf(sub).flatMap((name) => completedCommands(sub, `${path} ${name}`.trim(), scenarios)),
  );
  const own = {
    path,
    flags: command
      .createHelp()
      .visibleOptions(command)
      .map((option) => flagOf(option, scenarios)),
    commands: command.commands.flatMap((sub) =>
      namesOf(sub).map((name) => ({ name, description: firstLine(sub.description()) })),
    ),
    argument:
      path === '' ? { words: [], isFile: true } : argumentOf(command.registeredArguments[0], scenarios),
  };
  return [own, ...below];
}

const wordsOf = ({ commands, argument }: CompletedCommand): readonly string[] => [
  ...commands.map(({ name }) => name),
  ...argument.words,
];

/** How the scripts for bash and zsh differ. */
interface Shell {
  /** Reads the words that were typed. */
  readonly begin: string;
  readonly offerWords: (words: readonly string[]) => string;
  readonly offerFiles: string;
  readonly end: string;
}

const BASH: Shell = {
  begin: `_payout_sandbox() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local typed=("\${COMP_WORDS[@]:1:COMP_CWORD-1}")
  COMPREPLY=()`,
  offerWords: (words) => `COMPREPLY+=($(compgen -W "${words.join(' ')}" -- "$current"))`,
  offerFiles: 'COMPREPLY+=($(compgen -f -- "$current"))',
  end: `}
complete -o filenames -F _payout_sandbox payout-sandbox`,
};

const ZSH: Shell = {
  begin: `#compdef payout-sandbox
_payout_sandbox() {
  local current="\${words[CURRENT]}" previous="\${words[CURRENT-1]}"
  local -a typed=("\${(@)words[2,CURRENT-1]}")`,
  offerWords: (words) => `compadd -- ${words.join(' ')}`,
  offerFiles: '_files',
  end: `}
if [ "$funcstack[1]" = "_payout_sandbox" ]; then _payout_sandbox "$@"; else compdef _payout_sandbox payout-sandbox; fi`,
};

/** The script for bash or zsh: it finds the command among the words, then offers what can follow. */
function caseScript(commands: readonly CompletedCommand[], shell: Shell): string {
  const { begin, offerWords, offerFiles, end } = shell;
  const offer = (words: readonly string[], isFile: boolean): string =>
    [...(words.length > 0 ? [offerWords(words)] : []), ...(isFile ? [offerFiles] : [])].join('; ') || ':';
  const paths = commands.slice(1).map(({ path }) => `'${path}'`);
  const values = commands.flatMap(({ path, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(({ flag, words, isFile }) => `    '${path} ${flag}') ${offer(words, isFile)}; return ;;`),
  );
  const flags = commands.map(
    (command) =>
      `      '${command.path}') ${offer(
        command.flags.map(({ flag }) => flag),
        false,
      )} ;;`,
  );
  const others = commands.map(
    (command) => `    '${command.path}') ${offer(wordsOf(command), command.argument.isFile)} ;;`,
  );
  return `${begin}
  local command='' word
  for word in "\${typed[@]}"; do
    case "\${command:+$command }$word" in ${paths.join('|')}) command="\${command:+$command }$word" ;; esac
  done
  case "$command $previous" in
${values.join('\n')}
  esac
  if [[ $current == -* ]]; then
    case "$command" in
${flags.join('\n')}
    esac
    return
  fi
  case "$command" in
${others.join('\n')}
  esac
${end}`;
}

const inQuotes = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

function fishScript(commands: readonly CompletedCommand[]): string {
  const paths = commands.slice(1).map(({ path }) => inQuotes(path));
  const lines = commands.flatMap((command) => {
    const at = `complete -c payout-sandbox -n ${inQuotes(`__payout_sandbox_at "${command.path}"`)}`;
    const { argument } = command;
    return [
      ...command.commands.map(({ name, description }) => `${at} -f -a ${name} -d ${inQuotes(description)}`),
      ...(argument.words.length > 0 ? [`${at} -f -a ${inQuotes(argument.words.join(' '))}`] : []),
      argument.isFile ? `${at} -F` : `${at} -f`,
      ...command.flags.map(({ flag, description, takesValue, words, isFile }) => {
        const value = takesValue ? (isFile ? ' -r -F' : ' -x') : '';
        const offered = words.length > 0 ? ` -a ${inQuotes(words.join(' '))}` : '';
        return `${at} -l ${flag.slice(2)}${value}${offered} -d ${inQuotes(description)}`;
      }),
    ];
  });
  return `function __payout_sandbox_at
  set -l command ''
  for word in (commandline -opc)[2..]
    set -l longer (string trim "$command $word")
    contains -- $longer ${paths.join(' ')}; and set command $longer
  end
  test "$command" = "$argv[1]"
end
${lines.join('\n')}`;
}

const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: (commands) => caseScript(commands, BASH),
  zsh: (commands) => caseScript(commands, ZSH),
  fish: fishScript,
};

/**
 * `payout-sandbox completion SHELL`: a script that completes commands, flags, their values, and the names of scenarios.
 *
 * @throws SettingsError for another shell
 */
export function completionScript(shell: string, root: Command, scenarios: readonly string[]): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script !== undefined) return script(completedCommands(root, '', scenarios));
  throw new SettingsError(`completion supports ${Object.keys(SCRIPTS).join(', ')}, not ${shell}`);
}

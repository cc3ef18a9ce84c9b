import type { Argument, Command, Option } from 'commander';
import { RouteName } from '../../contract/match.ts';
import { SETTLEMENTS } from '../../contract/scenario-document.ts';
import { STATES, TRANSFER_MODES } from '../../contract/service.ts';
import { namesOf } from '../commands/command-builder.ts';

/** What the placeholders of --help stand for. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  'on or off': ['on', 'off'],
  preset: SETTLEMENTS,
  mode: TRANSFER_MODES,
  state: STATES,
  route: RouteName.options,
  origin: ['world', 'scenario', 'magic'],
};

/** What can stand in place of the last of the words that were typed after the name of the program. */
export function completions(
  root: Command,
  words: readonly string[],
  scenarios: readonly string[],
): readonly string[] {
  const valuesOf = (taker: Option | Argument, placeholder: string): readonly string[] =>
    taker.name() === 'scenario' ? scenarios : (taker.argChoices ?? WORDS[placeholder] ?? []);
  const typed = words.slice(0, -1);
  let command = root;
  for (const word of typed) {
    command = command.commands.find((sub) => namesOf(sub).includes(word)) ?? command;
  }
  const flag = command.options.find(({ long }) => long === typed.at(-1));
  const placeholder = /<(.*)>/.exec(flag?.flags ?? '')?.[1]; // of a flag with a value
  if (placeholder !== undefined) return valuesOf(flag!, placeholder);
  if (words.at(-1)!.startsWith('-')) return command.options.map(({ long }) => long!);
  return [
    ...command.commands.flatMap(namesOf),
    ...command.registeredArguments.slice(0, 1).flatMap((first) => valuesOf(first, first.name())),
  ];
}

/** Each asks the program for the words, and leaves files to the shell where there are none. */
export const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_payout_sandbox() {
  COMPREPLY=($(compgen -W "$("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _payout_sandbox payout-sandbox`,
  zsh: `#compdef payout-sandbox
_payout_sandbox() {
  local -a found=(\${(f)"$("\${words[1]}" completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -- $found; else _files; fi
}
if [ "$funcstack[1]" = "_payout_sandbox" ]; then _payout_sandbox "$@"; else compdef _payout_sandbox payout-sandbox; fi`,
  fish: `function __payout_sandbox
  set -l typed (commandline -opc)
  $typed[1] completion fish -- $typed[2..] (commandline -ct) 2>/dev/null
end
complete -c payout-sandbox -a '(__payout_sandbox)'`,
};

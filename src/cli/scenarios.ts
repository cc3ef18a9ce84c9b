import { ScenarioError } from '../scenario/scenario-file.ts';
import { ScenarioLibrary } from '../scenario/scenario-library.ts';
import { readSettings, scenarioSettings } from '../settings.ts';

const EXIT_OK = 0;

/** Who reads a list: a person at a terminal, or a program. */
interface Reader {
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
}

const bold = (text: string): string => `\u001b[1m${text}\u001b[22m`;

/**
 * `payout-sandbox scenarios`: every scenario with its description, one line each; in columns on a terminal, else with a
 * tab between them.
 *
 * @param folder the user's own scenarios, if there are any
 * @returns the exit code: 2 when one of the user's cannot be used
 */
export function scenarioList(
  folder: string | undefined,
  { isTerminal, isColoured }: Reader,
  say: (line: string) => void,
  complain: (...lines: readonly string[]) => number,
): number {
  const nothing = (): void => undefined;
  let library: ScenarioLibrary;
  try {
    library = new ScenarioLibrary({
      settings: scenarioSettings(readSettings({}, {})),
      active: undefined,
      folder,
      reloaded: nothing,
      refused: nothing,
    });
  } catch (error) {
    if (error instanceof ScenarioError) return complain(...error.lines);
    throw error;
  }
  const width = Math.max(...library.names.map((name) => name.length));
  for (const name of library.names) {
    const description = library.get(name)?.description ?? '';
    const gap = isTerminal ? ' '.repeat(width - name.length + 2) : '\t';
    say(`${isColoured ? bold(name) : name}${gap}${description.replaceAll(/\s+/g, ' ').trim()}`);
  }
  return EXIT_OK;
}

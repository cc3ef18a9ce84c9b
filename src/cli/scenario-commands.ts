import { z } from 'zod';
import { ScenarioDocument } from '../contract/scenario.ts';
import { runningClock } from '../world/clock.ts';
import type { ScenarioSettings } from '../scenario/scenario.ts';
import { readScenario, ScenarioError, shippedDialects } from '../scenario/scenario-file.ts';
import { ScenarioLibrary } from '../scenario/scenario-library.ts';

const EXIT_OK = 0;
/** A scenario file that cannot be used. */
const EXIT_INVALID = 1;

/** Stands for the settings, which decide nothing about whether a file can be used. */
const ANY_SETTINGS: ScenarioSettings = {
  openingBalancePaise: 0,
  seed: '1',
  clock: runningClock,
  settlement: 'demo',
  rateLimit: 'off',
  isMagic: false,
};

/**
 * `payout-sandbox validate FILE…`: says of every file that it can be used, or all that is wrong with it, one line each
 * (`file:line:column path what is wrong`).
 *
 * @returns the exit code: 1 when a file cannot be used
 */
export function validate(files: readonly string[], say: (line: string) => void): number {
  const surroundings = { settings: ANY_SETTINGS, lastRules: [], dialects: shippedDialects() };
  let exitCode = EXIT_OK;
  for (const file of files) {
    try {
      const { rules } = readScenario(file, surroundings);
      say(`${file}: ok, ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      error.lines.forEach(say);
      exitCode = EXIT_INVALID;
    }
  }
  return exitCode;
}

/** The JSON Schema of a scenario file, for editors: `payout-sandbox schema`, and fixtures/scenario.schema.json. */
export const scenarioJsonSchema = (): string =>
  `${JSON.stringify(z.toJSONSchema(ScenarioDocument, { io: 'input' }), null, 2)}\n`;

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
      settings: ANY_SETTINGS,
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

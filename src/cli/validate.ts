import { readScenario, ScenarioError, shippedDialects } from '../scenario/scenario-file.ts';
import { ANY_SETTINGS } from './any-settings.ts';

const EXIT_OK = 0;
/** A scenario file that cannot be used. */
const EXIT_INVALID = 1;

/**
 * `payout-sandbox validate FILE…`: says of every file that it can be used, or all that is wrong with it, one line each
 * (`file:line:column path what is wrong`).
 *
 * @returns the exit code: 1 when a file cannot be used
 */
export function validate(files: readonly string[], say: (line: string) => void): number {
  const surroundings = { settings: ANY_SETTINGS, lastRules: () => [], dialects: shippedDialects };
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

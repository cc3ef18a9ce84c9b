import { readScenario, ScenarioError } from '../scenario/scenario-file.ts';
import { readSettings, scenarioSettings } from '../settings.ts';
import { EXIT_OK } from './output.ts';

/** A scenario file that cannot be used. */
const EXIT_INVALID = 1;

/**
 * `payout-sandbox validate FILE…`: for each file, either that it can be used or everything that is wrong with it, one line
 * for each problem (`file:line:column path what is wrong`).
 *
 * @returns the exit code: 1 when a file cannot be used
 */
export function validate(files: readonly string[], say: (line: string) => void): number {
  const settings = scenarioSettings(readSettings({ magic: 'off' }, {})); // so that only a file's own rules count
  let exitCode = EXIT_OK;
  for (const file of files) {
    try {
      const { rules } = readScenario(file, settings);
      say(`${file}: ok, ${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      error.lines.forEach(say);
      exitCode = EXIT_INVALID;
    }
  }
  return exitCode;
}

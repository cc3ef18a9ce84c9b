import { ScenarioError } from '../../scenario/scenario-file.ts';
import { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import { scenarioSettings } from '../../scenario/scenario-settings.ts';
import type { Settings } from '../../settings.ts';
import { complain, EXIT_OK, say } from '../output.ts';
import { paintFor } from '../world/readable.ts';

/** The scenarios to choose from. @throws ScenarioError for a folder or a file that cannot be used */
export const libraryFor = (settings: Settings): ScenarioLibrary =>
  new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active: undefined,
    folder: settings.scenarios,
    reloaded: () => undefined,
    refused: () => undefined,
  });

/** `payout-sandbox scenarios`: each scenario with its description, in columns on a terminal, else separated by a tab. */
export function listScenarios(settings: Settings, environment: NodeJS.ProcessEnv): number {
  const { isTTY: isTerminal } = process.stdout;
  const paint = paintFor(environment);
  try {
    const library = libraryFor(settings);
    const width = Math.max(...library.names.map((name) => name.length));
    for (const { name, description } of library.all()) {
      const gap = isTerminal ? ' '.repeat(width - name.length + 2) : '\t';
      say(`${paint(name, 'bold')}${gap}${description.replaceAll(/\s+/g, ' ').trim()}`);
    }
    return EXIT_OK;
  } catch (error) {
    if (error instanceof ScenarioError) return complain(...error.lines);
    throw error;
  }
}

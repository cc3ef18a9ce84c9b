import { ScenarioLibrary } from '../../scenario/scenario-library.ts';
import { scenarioSettings } from '../../scenario/scenario-settings.ts';
import type { Settings } from '../../settings.ts';
import { say } from '../output.ts';
import { paintFor } from '../world/readable.ts';

/** The scenarios to choose from. @throws ScenarioError for a folder or a file that cannot be used */
export const libraryFor = (settings: Settings, active?: Settings['scenario']): ScenarioLibrary =>
  new ScenarioLibrary({
    settings: scenarioSettings(settings),
    active,
    folder: settings.scenarios,
    reloaded: () => undefined,
    refused: () => undefined,
  });

/** `payout-sandbox scenarios`: each scenario with its description, in columns on a terminal, otherwise separated by a tab. */
export function listScenarios(settings: Settings, environment: NodeJS.ProcessEnv): void {
  const paint = paintFor(environment);
  const library = libraryFor(settings);
  const width = Math.max(...library.names.map((name) => name.length));
  for (const { name, description } of library.all()) {
    const gap = process.stdout.isTTY ? ' '.repeat(width - name.length + 2) : '\t';
    say(`${paint(name, 'bold')}${gap}${description.replaceAll(/\s+/g, ' ').trim()}`);
  }
}
